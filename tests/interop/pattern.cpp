// SPDX-License-Identifier: Apache-2.0
#include "interop/pattern.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace udtcat::test::interop {

namespace {

constexpr std::size_t kWordBytes = 8;
constexpr std::size_t kWindowBytes = 16 * 1024;      // guess: stays in the first cache
constexpr std::uint64_t kSearchBytes = 4 << 20;      // how far a misplaced piece is looked for
constexpr std::size_t kTellingBytes = 16;            // so many equal bytes are no accident
constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;  // splitmix64

}  // namespace

std::uint64_t Pattern::word(std::uint64_t index) const {
  std::uint64_t z = seed_ * 0xd1342543de82ef95 + (index + 1) * kStep;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

void Pattern::fill(std::uint64_t offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    const std::size_t skip = offset % kWordBytes;
    const std::size_t take = std::min(kWordBytes - skip, into.size());
    const std::uint64_t each = word(offset / kWordBytes);
    if (take == kWordBytes) {
      std::memcpy(into.data(), &each, kWordBytes);
    } else {
      std::array<std::byte, kWordBytes> whole{};
      std::memcpy(whole.data(), &each, kWordBytes);
      std::memcpy(into.data(), whole.data() + skip, take);
    }
    into = into.subspan(take);
    offset += take;
  }
}

std::vector<std::byte> Pattern::bytes(std::uint64_t offset, std::size_t count) const {
  std::vector<std::byte> made(count);
  fill(offset, made);
  return made;
}

std::optional<std::string> Pattern::difference(std::uint64_t offset, std::span<const std::byte> got) const {
  std::array<std::byte, kWindowBytes> expected;
  while (!got.empty()) {
    const auto piece = got.first(std::min(got.size(), expected.size()));
    fill(offset, std::span(expected).first(piece.size()));
    if (std::memcmp(piece.data(), expected.data(), piece.size()) != 0) {
      const auto at = std::mismatch(piece.begin(), piece.end(), expected.begin()).first - piece.begin();
      return explain(offset + static_cast<std::uint64_t>(at), got.subspan(static_cast<std::size_t>(at)));
    }
    got = got.subspan(piece.size());
    offset += piece.size();
  }
  return std::nullopt;
}

std::string Pattern::explain(std::uint64_t offset, std::span<const std::byte> wrong) const {
  std::string text = "byte " + std::to_string(offset) + " is wrong";
  if (wrong.size() < kTellingBytes) return text;
  const std::uint64_t from = offset > kSearchBytes ? offset - kSearchBytes : 0;
  const auto around = bytes(from, 2 * kSearchBytes);
  const auto found = std::search(around.begin(), around.end(), wrong.begin(), wrong.begin() + kTellingBytes);
  if (found == around.end()) return text + ", and what stands there is of nowhere near";
  const auto home = from + static_cast<std::uint64_t>(found - around.begin());
  return text + ": what stands there belongs at " + std::to_string(home) + " (" +
         std::to_string(static_cast<std::int64_t>(home - offset)) + ")";
}

}  // namespace udtcat::test::interop
