// SPDX-License-Identifier: Apache-2.0
/// A transfer without a session: its stream is relayed to ssh's pipes, or, at the far end, to stdin and stdout.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>

#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>

#include "lib/bridge/relay.hpp"
#include "trees/counters.hpp"
#include "trees/transfer.hpp"
#include "trees/transfer_roles.hpp"

namespace udtcat::trees {

///   the transfer's thread ◄──► BlockingStream ◄──► two relays ◄──► the other stream
///
/// Threads: confined to the io_context thread.
class RelayedTransfer {
 public:
  /// other     outlives this
  /// on_over   is called once, when the thread has ended and the other stream's consumer has taken all, or takes no
  ///           more; not after destruction
  RelayedTransfer(boost::asio::io_context& io, LocalStream& other, std::unique_ptr<TransferCounters> counters,
                  TransferRole role, std::function<void()> on_over);

  [[nodiscard]] TransferCounters& counters() const { return *counters_; }
  /// None: it is not over.
  [[nodiscard]] std::optional<Status> result() const { return is_sent_ ? result_ : std::nullopt; }
  void cut() { transfer_.cut(); }

 private:
  void cut_if_broken(const bridge::Relay::Outcome& outcome);
  void finish_if_over();

  const std::unique_ptr<TransferCounters> counters_;
  const std::function<void()> on_over_;
  std::optional<Status> result_;  // of the thread
  bool is_sent_ = false;
  Transfer transfer_;
  const std::unique_ptr<LocalStream> stream_;
  const bridge::Relay inwards_;
  const bridge::Relay outwards_;
};

}  // namespace udtcat::trees
