// SPDX-License-Identifier: Apache-2.0
/// Remembers which peers' hosts say that the peer's port is closed: the quick sign that a process has died.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include <udtcat/endpoint.hpp>

#include "lib/core/mutex.hpp"
#include "lib/net/udp_socket.hpp"

namespace udtcat::transport::libudt {

/// Reads the ICMP errors of one UDP socket, which a listener's channels share, and sorts them by peer. It has no
/// thread: loops that wait for something else call take() now and then, so that the errors do not fill the receive
/// buffer.
/// Threads: internally synchronised.
class PortWatch {
 public:
  using Clock = std::chrono::steady_clock;

  /// `socket` keeps its path errors (UdpSocket::keep_path_errors).
  explicit PortWatch(net::UdpSocket socket) : socket_(std::move(socket)) {}

  /// Only watched peers are remembered. One unwatch() for each watch().
  void watch(const Endpoint& peer);
  void unwatch(const Endpoint& peer);

  /// How long ago the socket's last datagram came, from any sender, where the system keeps the time. It does from the
  /// first call on.
  [[nodiscard]] std::optional<Clock::duration> silence();
  void take(Clock::time_point now);
  /// Whether the port was said to be closed at all.
  [[nodiscard]] bool refused(const Endpoint& peer);
  /// When it was last said, if that was often and long enough after `last_byte` to be more than a stray.
  [[nodiscard]] std::optional<Clock::time_point> closed_since(const Endpoint& peer, Clock::time_point last_byte);

 private:
  struct Refusals {
    std::size_t watchers = 0;
    std::deque<Clock::time_point> times;  // ascending, bounded
  };

  core::Mutex mutex_;
  net::UdpSocket socket_ UDTCAT_GUARDED_BY(mutex_);
  std::map<std::string, Refusals> watched_ UDTCAT_GUARDED_BY(mutex_);  // by Endpoint::to_string()
};

}  // namespace udtcat::transport::libudt
