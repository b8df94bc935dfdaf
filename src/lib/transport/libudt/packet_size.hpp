/// How large UDT's packets are, and how many of them its buffers hold. UDT counts buffers in packets, so that both
/// numbers belong together.
#pragma once

#include <cstddef>
#include <optional>

#include <udtcat/endpoint.hpp>

namespace udtcat::transport::libudt {

// An MSS counts the IPv4, UDP and UDT headers: a packet's payload is this much less, for IPv6 too.
inline constexpr std::size_t kMssOverheadBytes = 44;       // spec: UDT4
inline constexpr std::size_t kIpAndUdpOverheadBytes = 28;  // spec: UDT4; the unit of libudt's buffer options
inline constexpr std::size_t kIpv6ExtraBytes = 20;         // spec: RFC 8200 §3 against RFC 791 §3.1
inline constexpr std::size_t kInternetMtu = 1500;          // spec: RFC 894
inline constexpr std::size_t kSmallestMtu = 576;           // spec: RFC 791 §3.1
// measured: bare libudt over loopback, 512 MiB, window of 32 MiB, two busy cores, 2026-11-21, median (best) of 3 in
// Gbit/s: 1500 1.6 (1.9), 4096 3.0 (4.1), 9000 4.9 (5.8), 16384 4.0 (8.6), 60000 5.4 (6.9). Above 9000 it is mostly
// noise, while the packets in a window, which bound small writes, become few.
inline constexpr std::size_t kLargestMtu = 9000;
inline constexpr std::size_t kLoopbackMtu = 65535;  // spec: Linux's loopback interface has 65536

struct PacketSize {
  std::size_t mss = 0;
  std::size_t receive_packets = 0;
  std::size_t send_packets = 0;
};

/// For a connection over a path of which the first hop takes `path_mtu`. Larger than the Internet's only where the path
/// is this host: nobody tells a connector whether every hop and the peer take jumbo frames.
[[nodiscard]] PacketSize connecting_packet_size(AddressFamily family, std::optional<std::size_t> path_mtu);
/// For a listener on interfaces of which the largest takes `mtu`: the most it can agree to, the connector decides.
[[nodiscard]] PacketSize listening_packet_size(AddressFamily family, std::optional<std::size_t> mtu);

}  // namespace udtcat::transport::libudt
