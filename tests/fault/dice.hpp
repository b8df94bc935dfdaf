// SPDX-License-Identifier: Apache-2.0
/// Chance from one number, the same on every machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "support/bytes.hpp"

namespace udtcat::fault {

/// Threads: unsynchronised.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : sequence_(seed) {}

  [[nodiscard]] std::uint64_t below(std::uint64_t limit) {
    std::uint64_t value = 0;
    sequence_.fill(std::as_writable_bytes(std::span(&value, 1)));
    return value % limit;
  }
  [[nodiscard]] std::uint64_t between(std::uint64_t least, std::uint64_t most) {
    return least + below(most - least + 1);
  }
  /// From 0 to 1.
  [[nodiscard]] double share() {
    constexpr std::uint64_t kSteps = 1'000'000;
    return static_cast<double>(below(kSteps)) / kSteps;
  }
  [[nodiscard]] bool happens(double chance) { return chance > 0 && share() < chance; }
  template <typename T, std::size_t Count>
  [[nodiscard]] T pick(const std::array<T, Count>& from) {
    return from.at(below(Count));
  }

 private:
  test::RandomSequence sequence_;
};

}  // namespace udtcat::fault
