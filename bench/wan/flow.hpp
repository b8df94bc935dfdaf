// SPDX-License-Identifier: Apache-2.0
/// Which packets belong together: by their 5-tuple, as routers and policers tell them apart.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace udtcat::wan {

/// One end of a 5-tuple. IPv4 has the first four bytes of the address.
struct FlowEnd {
  std::array<std::byte, 16> address{};
  std::uint16_t port = 0;
  friend bool operator==(const FlowEnd&, const FlowEnd&) = default;
};

/// A 5-tuple of TCP or UDP, in one direction. All other packets are one flow together, which has no protocol.
struct Flow {
  FlowEnd from{};
  FlowEnd to{};
  std::uint8_t protocol = 0;
  friend bool operator==(const Flow&, const Flow&) = default;
};

/// packet   as read from the device: virtio header, then IP
/// returns  that of all other packets for what is neither TCP nor UDP, for IPv4's fragments, and where IPv6's transport
///          header is not the first after its own
[[nodiscard]] Flow flow_of(std::span<const std::byte> packet);

/// The same for both directions: which of the two ends is which does not count.
[[nodiscard]] std::uint64_t hash_of(const Flow& flow);

/// ECMP: which of `paths` the flow takes, 0 to paths - 1, both directions the same. All other packets: 0.
[[nodiscard]] std::size_t path_of(const Flow& flow, std::size_t paths);

}  // namespace udtcat::wan
