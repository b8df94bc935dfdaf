// SPDX-License-Identifier: Apache-2.0
/// Bytes that tell where they belong, so that what arrives is checked as fast as it comes and a wrong byte explains
/// itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace udtcat::test::interop {

/// An endless stream, different for each seed. Threads: immutable.
class Pattern {
 public:
  explicit Pattern(std::uint64_t seed) : seed_(seed) {}

  void fill(std::uint64_t offset, std::span<std::byte> into) const;
  [[nodiscard]] std::vector<std::byte> bytes(std::uint64_t offset, std::size_t count) const;
  /// Nothing where `got` is what stands at `offset`; else the first wrong byte, and where it would have been right.
  [[nodiscard]] std::optional<std::string> difference(std::uint64_t offset, std::span<const std::byte> got) const;

 private:
  [[nodiscard]] std::uint64_t word(std::uint64_t index) const;
  [[nodiscard]] std::string explain(std::uint64_t offset, std::span<const std::byte> wrong) const;

  std::uint64_t seed_;
};

}  // namespace udtcat::test::interop
