// SPDX-License-Identifier: Apache-2.0
/// A UDP socket of one address family: owned, sized, and able to say what ICMP said about what it sent.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

namespace udtcat::net {

/// An ICMP report of a router or the peer's host about a datagram of ours. Forgeable by anybody.
struct PathError {
  Endpoint peer;  ///< where that datagram was going
  int errno_value = 0;
  bool port_unreachable = false;  ///< the host is there and the port is closed
  std::size_t path_mtu = 0;       ///< the packet was larger than this, and may not be cut; 0: it was not that
};

/// Threads: unsynchronised, as is a file descriptor: the kernel serialises what one socket is asked.
class UdpSocket {
 public:
  /// IPv6 sockets take IPv6 only. Closed on exec.  errors: Errc::cannot_bind, Errc::out_of_resources
  [[nodiscard]] static Result<UdpSocket> open(AddressFamily family);
  UdpSocket(UdpSocket&& other) noexcept;
  UdpSocket& operator=(UdpSocket&& other) noexcept;
  ~UdpSocket();

  /// errors: Errc::cannot_bind
  [[nodiscard]] Status bind(const Endpoint& local);
  /// From now on only datagrams of `peer` come in.  errors: Errc::cannot_reach
  [[nodiscard]] Status connect(const Endpoint& peer);
  [[nodiscard]] Result<Endpoint> local_endpoint() const;
  /// Another descriptor of the same socket, the lowest free number that is at least `lowest`.
  /// errors: Errc::out_of_resources
  [[nodiscard]] Result<UdpSocket> duplicate(int lowest = 0) const;

  /// Buffer sizes as near to these as the system allows, past its ceiling where we may. Zero: as it is.
  void request_buffers(std::size_t receive_bytes, std::size_t send_bytes);
  /// Keeps ICMP errors for take_path_errors(); they fill the receive buffer until they are taken.
  /// errors: Errc::cannot_bind
  [[nodiscard]] Status keep_path_errors();
  /// At most `limit` of those that came since the last call, without waiting.
  [[nodiscard]] std::vector<PathError> take_path_errors(std::size_t limit);
  /// When the last datagram that was read had come, by whatever descriptor. The first call makes the system note it;
  /// none until then, and where it cannot.
  [[nodiscard]] std::optional<std::chrono::system_clock::time_point> last_arrival() const;
  /// The MTU of the way to the connected peer as the system knows it, IP header included.
  [[nodiscard]] std::optional<std::size_t> path_mtu() const;
  void discard_received();

  [[nodiscard]] AddressFamily family() const { return family_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] int release();

 private:
  UdpSocket(int descriptor, AddressFamily family) : descriptor_(descriptor), family_(family) {}

  int descriptor_;
  AddressFamily family_;
};

/// Waits until `descriptor` is readable, or `limit` is over. Signals end the wait early.
void wait_readable(int descriptor, std::chrono::nanoseconds limit);

/// The largest MTU among the interfaces that are up and carry `local`, any of the family for a wildcard.
[[nodiscard]] std::optional<std::size_t> interface_mtu(const Endpoint& local);

}  // namespace udtcat::net
