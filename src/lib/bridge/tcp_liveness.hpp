// SPDX-License-Identifier: Apache-2.0
/// Notices that the other host of a TCP connection is gone, in about a minute (ADR-0056).
#pragma once

#include <chrono>
#include <functional>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/core/lifetime.hpp"

namespace udtcat::bridge {

using StreamSocket = boost::asio::generic::stream_protocol::socket;  // TCP, or unix

inline constexpr std::chrono::seconds kLookForAcks{12};  // guess: five of them are a minute

/// While nothing is sent, the system asks the other host; a socket that is none of TCP is left as it is.
void keep_alive(StreamSocket& socket);

/// While something is sent, looks at whether the other host acknowledges anything. TCP_USER_TIMEOUT would also end a
/// connection whose reader pauses.
/// Threads: confined to the io_context thread.
class AckWatch {
 public:
  /// on_lost    called once: for five intervals the system has sent again and again, and heard nothing
  /// socket     must outlive this
  AckWatch(StreamSocket& socket, std::function<void()> on_lost, std::chrono::milliseconds interval = kLookForAcks);

  /// Something was given to the system. It looks from now on, until all is acknowledged.
  void sent();

 private:
  void look();

  StreamSocket& socket_;
  const std::function<void()> on_lost_;
  const std::chrono::milliseconds interval_;
  bool looks_ = false;
  int silent_looks_ = 0;
  boost::asio::steady_timer timer_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::bridge
