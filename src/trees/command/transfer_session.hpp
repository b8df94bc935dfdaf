// SPDX-License-Identifier: Apache-2.0
/// A transfer over a connection, from its stream to its end.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/connection.hpp>
#include <udtcat/result.hpp>

#include "lib/core/lifetime.hpp"
#include "trees/counters.hpp"
#include "trees/transfer.hpp"
#include "trees/transfer_roles.hpp"

namespace udtcat::trees {

/// Over once the connection is closed, and, where there was a stream, that and the transfer's thread have ended.
/// Threads: confined to the main thread.
class TransferSession {
 public:
  /// on_over   called once; it does not destroy this
  TransferSession(boost::asio::io_context& io, std::unique_ptr<Connection> connection,
                  std::unique_ptr<TransferCounters> counters, TransferRole role, std::function<void()> on_over);

  /// Begins over a stream of ours.
  void open();
  /// Begins over the peer's; a second one is refused.
  void accept(StreamId id);

  /// The other end has said what it wants.
  [[nodiscard]] bool has_begun() const { return counters_->has_begun; }
  [[nodiscard]] Connection& connection() const { return *connection_; }
  [[nodiscard]] TransferCounters& counters() const { return *counters_; }
  /// When it is over.  errors: as result_of() says; where no stream came, what broke the connection, or
  /// Errc::peer_interrupted
  [[nodiscard]] Status result() const;

 private:
  void begin();
  void watch_silence();
  void on_outcome(const StreamOutcome& outcome);
  void finish_if_over();

  boost::asio::io_context& io_;
  const std::unique_ptr<TransferCounters> counters_;
  const TransferRole role_;
  const std::function<void()> on_over_;
  const std::unique_ptr<Connection> connection_;
  std::optional<Status> worked_;
  std::optional<StreamOutcome> outcome_;
  std::optional<Status> closed_;
  const std::shared_ptr<std::atomic<bool>> is_silent_ = std::make_shared<std::atomic<bool>>(false);
  boost::asio::steady_timer silence_;
  std::unique_ptr<Transfer> transfer_;  // its stream leads into what stands above
  core::Lifetime lifetime_;
};

}  // namespace udtcat::trees
