// SPDX-License-Identifier: Apache-2.0
#include "ssh/port_range.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "lib/core/text.hpp"
#include "tool/cli/command_line.hpp"

namespace udtcat::ssh {

std::string to_string(const PortRange& range) {
  return range.first == range.last ? std::to_string(range.first) : fmt::format("{}-{}", range.first, range.last);
}

Result<PortRange> parse_port_range(const std::string& text) {
  const auto one = core::parse_number<std::uint16_t>(text);
  const auto range = one ? std::optional(std::pair(*one, *one)) : core::parse_port_range(text, "-:");
  if (!range || (range->first == 0 && range->second != 0))
    return tool::bad_value("--port", text,
                           "a port, or a range of them, as in 9000 or 9000-9100; 0 lets the system choose");
  return PortRange{range->first, range->second};
}

std::vector<std::uint16_t> ports_of(const PortRange& range) {
  std::vector<std::uint16_t> ports(static_cast<std::size_t>(range.last - range.first) + 1U);
  std::iota(ports.begin(), ports.end(), range.first);
  std::random_device random;
  std::rotate(ports.begin(), ports.begin() + static_cast<std::ptrdiff_t>(random() % ports.size()), ports.end());
  return ports;
}

}  // namespace udtcat::ssh
