// SPDX-License-Identifier: Apache-2.0
/// The ports of this host for data connections, where a firewall lets no others through.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "gridftp/mode_e/data_stack.hpp"

namespace udtcat::gridftp {

/// Threads: confined to the io_context thread.
class DataPortRange {
 public:
  /// first   at least 1, and not above last
  DataPortRange(std::uint16_t first, std::uint16_t last) : first_(first), last_(last), next_(first) {}
  /// "50000:51000", also with '-', ',' or a blank between, as in GLOBUS_TCP_PORT_RANGE; none: it is no range.
  [[nodiscard]] static std::shared_ptr<DataPortRange> parse(std::string_view text);

  [[nodiscard]] std::uint16_t first() const { return first_; }
  [[nodiscard]] std::uint16_t last() const { return last_; }
  /// One after the other: a port that was just closed waits longest.
  [[nodiscard]] std::uint16_t next() {
    const std::uint16_t port = next_;
    next_ = port == last_ ? first_ : static_cast<std::uint16_t>(port + 1);
    return port;
  }

 private:
  const std::uint16_t first_;
  const std::uint16_t last_;
  std::uint16_t next_;
};

/// `stack`, whose listeners take a free one of `ports` where the system would choose.
[[nodiscard]] std::shared_ptr<DataStack> within(std::shared_ptr<DataPortRange> ports, std::shared_ptr<DataStack> stack);

}  // namespace udtcat::gridftp
