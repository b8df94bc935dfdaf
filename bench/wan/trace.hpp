// SPDX-License-Identifier: Apache-2.0
/// A rate that varies, in mahimahi's format.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/result.hpp>
#include <udtcat/units.hpp>

namespace udtcat::wan {

/// The times at which a link can deliver kOpportunityBytes each, repeated without end. Threads: immutable.
class Trace {
 public:
  static constexpr std::size_t kOpportunityBytes = 1500;  // spec: mm-link(1)

  /// text     a line an opportunity: whole milliseconds since the beginning, in order; the last is the trace's length
  /// errors   Errc::bad_argument, with the number of the line
  [[nodiscard]] static Result<Trace> parse(std::string_view text);
  /// errors   those of parse(); Errc::bad_argument: the file cannot be read, or is longer than 64 MiB
  [[nodiscard]] static Result<std::shared_ptr<const Trace>> load(const std::string& path);

  /// The time of an opportunity, from the trace's first beginning on.
  [[nodiscard]] std::chrono::nanoseconds at(std::uint64_t number) const;
  /// The number of the first opportunity after that time.
  [[nodiscard]] std::uint64_t first_after(std::chrono::nanoseconds time) const;
  [[nodiscard]] BitRate mean_rate() const;

 private:
  explicit Trace(std::vector<std::chrono::milliseconds> times) : times_(std::move(times)) {}

  std::vector<std::chrono::milliseconds> times_;  // never empty; each no earlier than the one before; the last after 0
};

}  // namespace udtcat::wan
