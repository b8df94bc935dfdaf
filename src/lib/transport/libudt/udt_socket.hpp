// SPDX-License-Identifier: Apache-2.0
/// A libudt socket, owned: the UDP socket under it, which we make, and its errors as ours.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>
#include <udtcat/units.hpp>

#include "lib/net/udp_socket.hpp"

namespace udtcat::transport::libudt {

// An MSS counts the IPv4, UDP and UDT headers: a packet's payload is this much less, for IPv6 too.
inline constexpr std::size_t kMssOverheadBytes = 44;  // spec: UDT4

/// The MSS that fills an Internet packet.
[[nodiscard]] std::size_t packet_bytes(AddressFamily family);

// How long a blocked send or receive stays in libudt before the loop checks whether it is still wanted.
inline constexpr std::chrono::milliseconds kBlockingCallLimit{25};  // guess: 40 checks a second cost nothing

/// The number of a libudt socket. Numbers are not used twice in a process, so a late call fails instead of hitting
/// another.
/// Threads: internally synchronised, by libudt; moving is not.
class UdtSocket {
 public:
  /// Not blocking until make_blocking(). Lingering is off: a channel drains before it closes.
  /// errors: Errc::out_of_resources
  [[nodiscard]] static Result<UdtSocket> open(AddressFamily family, BitRate rate);
  explicit UdtSocket(int id) : id_(id) {}
  UdtSocket(UdtSocket&& other) noexcept;
  UdtSocket& operator=(UdtSocket&& other) noexcept;
  ~UdtSocket();

  /// Runs over `socket` from now on, through a descriptor of its own, known inside libudt under the port of `alias`,
  /// which may be the same: libudt takes two sockets of one port number for one.
  /// errors: Errc::cannot_bind, Errc::out_of_resources
  [[nodiscard]] Status run_over(net::UdpSocket& socket, const net::UdpSocket& alias);
  /// A connection that is over already gives what it holds, and never blocks.  errors: Errc::connection_broken
  [[nodiscard]] Status make_blocking();
  /// A finer state than libudt's own: a connection that came and went between two polls was one.
  enum class EndState { never_connected, over, holds_bytes };
  [[nodiscard]] EndState end_state() const;
  /// Ends the calls that block in it. May be called again.
  void close();
  /// Never closes it.
  void abandon() { id_ = -1; }

  [[nodiscard]] int id() const { return id_; }

 private:
  int id_;
};

/// The last error of libudt in this thread. libudt reports the end of a connection, its breaking and a socket that its
/// garbage collector has already taken alike; all are Errc::connection_broken here.
/// errors: Errc::connection_broken, Errc::out_of_resources, else `otherwise`
[[nodiscard]] Error last_error(Errc otherwise, std::string what);
/// Nothing failed: a blocking call came back at its time limit, or a non-blocking one had nothing to say.
[[nodiscard]] bool last_error_is_try_again();

}  // namespace udtcat::transport::libudt
