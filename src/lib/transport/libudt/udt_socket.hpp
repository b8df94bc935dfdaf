// SPDX-License-Identifier: Apache-2.0
/// A libudt socket, owned: the size of its packets, the UDP socket under it, which we make, and its errors as ours.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>
#include <udtcat/units.hpp>

#include "lib/net/udp_socket.hpp"

namespace udtcat::transport::libudt {

// An MSS counts the IPv4, UDP and UDT headers: a packet's payload is this much less, for IPv6 too.
inline constexpr std::size_t kMssOverheadBytes = 44;  // spec: UDT4

inline constexpr std::size_t kSmallestMtu = 576;     // spec: RFC 791 §3.1
inline constexpr std::size_t kLoopbackMtu = 65'535;  // spec: Linux's loopback interface has 65536
// measured: bare libudt over loopback, 512 MiB, window of 32 MiB, two busy cores, 2026-11-21, median (best) of 3 in
// Gbit/s: 1500 1.6 (1.9), 4096 3.0 (4.1), 9000 4.9 (5.8), 16384 4.0 (8.6), 60000 5.4 (6.9). Above 9000 it is mostly
// noise, while the packets in a window, which bound small writes, become few.
inline constexpr std::size_t kLargestMtu = 9000;

/// The MSS for a path of which the first hop takes `path_mtu`. Larger than the Internet's only where the path is this
/// host: a connector cannot know whether every hop and the peer take jumbo frames.
[[nodiscard]] std::size_t connecting_mss(AddressFamily family, std::optional<std::size_t> path_mtu);
/// The MSS for a listener on interfaces of which the largest takes `mtu`: the most it can agree to, the connector
/// decides.
[[nodiscard]] std::size_t listening_mss(AddressFamily family, std::optional<std::size_t> mtu);
/// How many packets the buffers of a connection hold.
[[nodiscard]] std::size_t receive_packets(std::size_t mss);
[[nodiscard]] std::size_t send_packets(std::size_t mss);

/// A descriptor that no other file will get. When libudt takes a UDP socket down, it first closes the descriptor and
/// only then stops the thread that reads from it: a file that another thread opens in between, and that gets the
/// number, would lose bytes. New files get the lowest free number; these are far up, each used once in a long while.
/// errors: Errc::out_of_resources
[[nodiscard]] Result<net::UdpSocket> duplicate_high(const net::UdpSocket& socket);
/// Makes `descriptor` mean `socket` instead of what it means now, with that one's receive timeout, on which libudt's
/// reading thread depends.  errors: Errc::out_of_resources
[[nodiscard]] Status replace_descriptor(int descriptor, const net::UdpSocket& socket);

// How long a blocked send or receive stays in libudt before the loop checks whether it is still wanted.
inline constexpr std::chrono::milliseconds kBlockingCallLimit{25};  // guess: 40 checks a second cost nothing

/// The number of a libudt socket. Numbers are not used twice in a process, so a late call fails instead of hitting
/// another.
/// Threads: internally synchronised, by libudt; moving is not.
class UdtSocket {
 public:
  /// Not blocking until make_blocking(). Lingering is off: a channel drains before it closes.
  /// errors: Errc::out_of_resources
  [[nodiscard]] static Result<UdtSocket> open(AddressFamily family, std::size_t mss, BitRate rate);
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
