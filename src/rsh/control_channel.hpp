// SPDX-License-Identifier: Apache-2.0
/// The stream on which the control messages of a remote command travel.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/stream.hpp>

#include "lib/core/lifetime.hpp"
#include "ssh/control_message.hpp"

namespace udtcat::rsh {

/// One end of the control stream: sends messages and gives those of the peer.
/// Threads: confined to the io_context thread. Handlers are called there, never from inside a call of this.
class ControlChannel {
 public:
  using MessageHandler = std::function<void(const ssh::ControlMessage&)>;
  /// The peer broke the protocol; none of its further messages is given.
  using ViolationHandler = std::function<void(const Error&)>;

  ControlChannel(boost::asio::io_context& io, MessageHandler on_message, ViolationHandler on_violation)
      : io_(io), on_message_(std::move(on_message)), on_violation_(std::move(on_violation)) {}

  /// Once, before the first send().
  void attach(std::unique_ptr<Stream> stream);
  /// Queued without bound: this process sends only a few. Dropped after finish_sending().
  void send(const ssh::ControlMessage& message);
  void finish_sending();

 private:
  void read_more();
  void deliver();
  void write_more();

  boost::asio::io_context& io_;
  const MessageHandler on_message_;
  const ViolationHandler on_violation_;
  ssh::ControlReader reader_;
  std::array<std::byte, 4096> piece_{};
  std::vector<std::byte> waiting_;  // to be written
  std::vector<std::byte> leaving_;  // being written; empty: nothing is
  bool ended_ = false;
  bool finished_ = false;           // the stream knows of it
  std::unique_ptr<Stream> stream_;  // it reads into and writes from what stands above
  core::Lifetime lifetime_;
};

}  // namespace udtcat::rsh
