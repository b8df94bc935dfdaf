// SPDX-License-Identifier: Apache-2.0
/// A transfer over a connection, from its stream to its end.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>

#include <udtcat/connection.hpp>
#include <udtcat/result.hpp>

#include "trees/tally.hpp"
#include "trees/transfer.hpp"
#include "trees/work.hpp"

namespace udtcat::trees {

/// Over once the connection is closed, and, where there was a stream, that and the transfer's thread have ended.
/// Threads: confined to the main thread.
class TransferSession {
 public:
  /// On a thread of its own.
  using Work = std::function<Status(Wire& wire, Tally& tally, const OtherEnd& other)>;

  /// on_over   called once; it does not destroy this
  TransferSession(boost::asio::io_context& io, std::unique_ptr<Connection> connection, std::unique_ptr<Tally> tally,
                  Work work, std::function<void()> on_over);

  /// Begins over a stream of ours.
  void open();
  /// Begins over the peer's; a second one is refused.
  void accept(StreamId id);

  [[nodiscard]] Connection& connection() const { return *connection_; }
  [[nodiscard]] Tally& tally() const { return *tally_; }
  /// When it is over.  errors: as result_of() says; Errc::peer_interrupted: no stream came
  [[nodiscard]] Status result() const;

 private:
  void begin();
  void on_outcome(const StreamOutcome& outcome);
  void finish_if_over();

  boost::asio::io_context& io_;
  const std::unique_ptr<Tally> tally_;
  const Work work_;
  const std::function<void()> on_over_;
  const std::unique_ptr<Connection> connection_;
  std::optional<Status> worked_;
  std::optional<StreamOutcome> outcome_;
  std::optional<Status> closed_;
  std::unique_ptr<Transfer> transfer_;  // its stream leads into what stands above
};

}  // namespace udtcat::trees
