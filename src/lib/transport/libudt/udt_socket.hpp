/// A libudt socket, owned; and the UDP socket under it, made by us.
#pragma once

#include <chrono>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>
#include <udtcat/units.hpp>

#include "lib/net/udp_socket.hpp"
#include "lib/transport/libudt/packet_size.hpp"

namespace udtcat::transport::libudt {

// How long a blocked send or receive stays in libudt before it looks whether it is still wanted.
inline constexpr std::chrono::milliseconds kBlockingCallLimit{25};  // guess: 40 looks a second cost nothing

/// The number of a libudt socket. Numbers are not used twice in a process, so a late call fails instead of hitting
/// another.
/// Threads: internally synchronised, by libudt; moving is not.
class UdtSocket {
 public:
  /// Not blocking until make_blocking(). Lingering is off: who closes has drained.
  /// errors: Errc::out_of_resources
  [[nodiscard]] static Result<UdtSocket> open(AddressFamily family, const PacketSize& size, BitRate rate);
  explicit UdtSocket(int id) : id_(id) {}
  UdtSocket(UdtSocket&& other) noexcept;
  UdtSocket& operator=(UdtSocket&& other) noexcept;
  ~UdtSocket();

  /// Runs over `socket` from now on, through a descriptor of its own. errors: Errc::cannot_bind, Errc::out_of_resources
  [[nodiscard]] Status run_over(net::UdpSocket& socket);
  /// The same, known inside libudt under the port of `alias` instead: libudt takes two sockets of one port number for
  /// one.
  [[nodiscard]] Status run_over(net::UdpSocket& socket, const net::UdpSocket& alias);
  /// A connection that is over already gives what it holds, and never blocks.  errors: Errc::connection_broken
  [[nodiscard]] Status make_blocking();
  /// What libudt's state does not tell: a connection that came and went between two looks was one.
  enum class Past { never_connected, over, holds_bytes };
  [[nodiscard]] Past past() const;
  /// Wakes whoever is blocked in it. May be called again.
  void close();
  /// Never closes it.
  void abandon() { id_ = -1; }

  [[nodiscard]] int id() const { return id_; }

 private:
  int id_;
};

}  // namespace udtcat::transport::libudt
