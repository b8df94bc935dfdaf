/// The user's limit on the rate, where several channels send at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <udtcat/options.hpp>

namespace udtcat::connection {

/// The options of each of `flows` channels that together are to send no faster than `whole` says.
[[nodiscard]] inline TransportOptions share_of_each_flow(TransportOptions whole, std::optional<std::size_t> flows) {
  if (whole.rate.unlimited() || !flows) return whole;
  const std::uint64_t parts = std::clamp<std::size_t>(*flows, 1, kMaxFlows);
  // At least a byte per second: none at all would mean no limit.
  whole.rate = BitRate::from_bits_per_second(std::max<std::uint64_t>(whole.rate.bits_per_second() / parts, 8));
  return whole;
}

}  // namespace udtcat::connection
