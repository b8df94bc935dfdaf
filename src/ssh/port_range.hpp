// SPDX-License-Identifier: Apache-2.0
/// The UDP ports of which a far end takes one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <udtcat/result.hpp>

namespace udtcat::ssh {

struct PortRange {
  std::uint16_t first = 9000;
  std::uint16_t last = 9100;
};

[[nodiscard]] std::string to_string(const PortRange& range);

/// "9000" or "9000-9100".  errors: Errc::bad_argument
[[nodiscard]] Result<PortRange> parse_port_range(const std::string& text);

/// Every port of the range, beginning anywhere, so that many commands that start at once seldom ask for the same.
[[nodiscard]] std::vector<std::uint16_t> ports_of(const PortRange& range);

}  // namespace udtcat::ssh
