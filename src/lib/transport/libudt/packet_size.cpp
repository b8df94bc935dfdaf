#include "lib/transport/libudt/packet_size.hpp"

#include <algorithm>

#include <udtcat/units.hpp>

namespace udtcat::transport::libudt {

namespace {

constexpr std::size_t kReceiveBytes = 24 * kMiB;  // guess: 2.6 Gbit/s at 75 ms, more than libudt reaches there
constexpr std::size_t kSendBytes = 12 * kMiB;     // guess: half of that; what is in here answers no ping
// A listener keeps every packet in a place as large as its own MSS, whatever the peer's. Fewer places than these would
// leave a peer of 1456-byte packets too small a window; more would let one of large packets hold too much memory.
constexpr std::size_t kLeastReceivePackets = 5600;  // guess: 8 MB of Internet packets, 50 MB of the largest
constexpr std::size_t kLeastSendPackets = 4096;     // guess

PacketSize packet_size(AddressFamily family, std::size_t mtu) {
  const std::size_t mss = family == AddressFamily::ipv6 ? mtu - kIpv6ExtraBytes : mtu;
  return {mss, std::max(kReceiveBytes / mss, kLeastReceivePackets), std::max(kSendBytes / mss, kLeastSendPackets)};
}

}  // namespace

PacketSize connecting_packet_size(AddressFamily family, std::optional<std::size_t> path_mtu) {
  const std::size_t mtu = path_mtu.value_or(kInternetMtu);
  if (mtu >= kLoopbackMtu) return packet_size(family, kLargestMtu);
  return packet_size(family, std::clamp(mtu, kSmallestMtu, kInternetMtu));
}

PacketSize listening_packet_size(AddressFamily family, std::optional<std::size_t> mtu) {
  return packet_size(family, std::clamp(mtu.value_or(kInternetMtu), kInternetMtu, kLargestMtu));
}

}  // namespace udtcat::transport::libudt
