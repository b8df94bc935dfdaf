// SPDX-License-Identifier: Apache-2.0
/// The stream on which control messages travel, as the multiplexer sees it: a local stream whose user is this process.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include <udtcat/local_stream.hpp>

#include "lib/bridge/pending_call.hpp"
#include "lib/core/lifetime.hpp"
#include "ssh/control_message.hpp"

namespace udtcat::rsh {

/// One end of the control stream: sends messages and gives those of the peer. It may be used before the stream that
/// carries them exists, and after.
/// Threads: confined to the io_context thread. The handler is called there, never from inside a call of this.
class ControlChannel {
 public:
  using MessageHandler = std::function<void(const ssh::ControlMessage&)>;
  /// The peer broke the protocol; none of its further messages is given.
  using ViolationHandler = std::function<void(const Error&)>;

  ControlChannel(boost::asio::io_context& io, MessageHandler on_message, ViolationHandler on_violation);
  ~ControlChannel();
  ControlChannel(const ControlChannel&) = delete;
  ControlChannel& operator=(const ControlChannel&) = delete;

  /// Queued without bound: this process sends only a few.
  void send(const ssh::ControlMessage& message);
  void finish_sending();

  [[nodiscard]] std::unique_ptr<LocalStream> stream();

 private:
  class LocalSide;
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace udtcat::rsh
