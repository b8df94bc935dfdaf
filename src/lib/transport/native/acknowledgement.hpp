// SPDX-License-Identifier: Apache-2.0
/// The body of an ACK: UDT4's, and what our own ends add. See docs/spec/udt4.md §5 and §9.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// A plain UDT4 receiver sends an ACK at once with each 64th packet. The others wait for the first packet that comes
/// 10 ms later, or, if none comes, for 100 ms.  spec: draft-gg-udt, "light ACK"; libudt 4.11, CUDT::checkTimers
constexpr std::uint32_t kLightAckPackets = 64;

/// The window of a receiver that has no room, in packets.
constexpr std::uint32_t kLeastWindow = 2;  // spec: UDT4: libudt never says less

/// The part that ACKs between two ends of ours have beyond UDT4's.
struct ExtendedReport {
  std::uint32_t highest = 0;                  ///< the highest sequence number that has arrived
  std::uint64_t received_bytes = 0;           ///< payload of all distinct packets so far
  std::uint32_t echo_us = 0;                  ///< timestamp of the latest packet to arrive
  std::uint32_t delay_us = 0;                 ///< how long ago that was
  std::uint32_t free_kib = 0;                 ///< room for data from `next` on
  std::uint32_t host_overloads = 0;           ///< counted so far: see OverloadDetector
  std::optional<std::uint32_t> arrived_us{};  ///< when the latest packet arrived, by the receiver's clock
};

struct Acknowledgement {
  [[nodiscard]] bool is_light() const { return !window_packets; }

  std::uint32_t next = 0;  ///< every packet before this one has arrived
  // Not in a light ACK:
  std::optional<std::uint32_t> rtt_us;
  std::optional<std::uint32_t> window_packets;
  // Not in a medium ACK either, and never 0:
  std::optional<std::uint32_t> rate_packets;
  std::optional<std::uint32_t> capacity_packets;
  std::optional<ExtendedReport> extended;
};

/// Total.  none: the body is too short for the first word
[[nodiscard]] std::optional<Acknowledgement> decode_acknowledgement(std::span<const std::byte> body);

/// The body of a light ACK: one word.
[[nodiscard]] std::vector<std::uint32_t> light_words(std::uint32_t next);
struct FullReport {
  std::uint32_t next = 0;
  Duration rtt{0};
  Duration rtt_variation{0};
  std::uint32_t window_packets = 0;
  std::uint32_t rate_packets = 0;
  std::uint32_t capacity_packets = 0;
};
[[nodiscard]] std::vector<std::uint32_t> full_words(const FullReport& report);
void append_extension(std::vector<std::uint32_t>& words, const ExtendedReport& report);

}  // namespace udtcat::transport::native
