// SPDX-License-Identifier: Apache-2.0
#include "ssh/port_range.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <string_view>

#include <fmt/format.h>

#include "lib/core/text.hpp"
#include "tool/cli/command_line.hpp"

namespace udtcat::ssh {

std::string to_string(const PortRange& range) {
  return range.first == range.last ? std::to_string(range.first) : fmt::format("{}-{}", range.first, range.last);
}

Result<PortRange> parse_port_range(const std::string& text) {
  const auto malformed = [&] {
    return tool::bad_value("--port", text,
                           "a port, or a range of them, as in 9000 or 9000-9100; 0 lets the system choose");
  };
  const auto dash = text.find_first_of("-:");
  const auto first = core::parse_number<std::uint16_t>(std::string_view(text).substr(0, dash));
  const auto last =
      dash == std::string::npos ? first : core::parse_number<std::uint16_t>(std::string_view(text).substr(dash + 1));
  if (!first || !last || *first > *last || (*first == 0 && *last != 0)) return malformed();
  return PortRange{*first, *last};
}

std::vector<std::uint16_t> ports_of(const PortRange& range) {
  std::vector<std::uint16_t> ports(static_cast<std::size_t>(range.last - range.first) + 1U);
  std::iota(ports.begin(), ports.end(), range.first);
  std::random_device random;
  std::rotate(ports.begin(), ports.begin() + static_cast<std::ptrdiff_t>(random() % ports.size()), ports.end());
  return ports;
}

}  // namespace udtcat::ssh
