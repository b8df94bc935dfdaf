// SPDX-License-Identifier: Apache-2.0
/// Numbers and texts, one behind the other, as bytes.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/core/byte_order.hpp"
#include "lib/core/invariant.hpp"
#include "lib/core/text.hpp"

namespace udtcat::core {

/// Appends to bytes that outlive it.
/// Threads: unsynchronised.
class ByteWriter {
 public:
  explicit ByteWriter(std::vector<std::byte>& to) : to_(to) {}

  /// Makes room for so many bytes at once; many small ones grow the memory as they come.
  void expect(std::size_t bytes) {
    if (to_.capacity() - to_.size() < bytes) to_.reserve(std::max(to_.size() + bytes, 2 * to_.capacity()));
  }
  template <std::unsigned_integral T>
  void number(T value) {
    const std::size_t begin = to_.size();
    to_.resize(begin + sizeof value);
    store_be(std::span(to_).subspan(begin), value);
  }
  void bytes(std::span<const std::byte> from) { to_.insert(to_.end(), from.begin(), from.end()); }
  void text(std::string_view from) { bytes(std::as_bytes(std::span(from))); }
  /// With its length before it, as a Length.
  template <std::unsigned_integral Length>
  void sized_text(std::string_view from) {
    UDTCAT_INVARIANT(from.size() <= static_cast<Length>(-1), "the caller keeps the limits");
    number(static_cast<Length>(from.size()));
    text(from);
  }

 private:
  std::vector<std::byte>& to_;
};

/// Takes bytes from their front. What is not there reads as zeros or nothing, and is_whole() says so: ask it before
/// anything is believed.
/// Threads: unsynchronised.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <std::unsigned_integral T>
  T number() {
    const auto from = bytes(sizeof(T));
    return from.empty() ? T{0} : load_be<T>(from);
  }
  std::span<const std::byte> bytes(std::size_t count) {
    if (count > rest_.size()) is_cut_ = true;
    if (is_cut_) return {};
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  template <std::size_t Size>
  std::array<std::byte, Size> array() {
    std::array<std::byte, Size> into{};
    std::ranges::copy(bytes(Size), into.begin());
    return into;
  }
  template <std::unsigned_integral Length>
  std::string sized_text() {
    return std::string(as_text(bytes(number<Length>())));
  }

  [[nodiscard]] bool is_cut() const { return is_cut_; }
  [[nodiscard]] std::size_t rest_bytes() const { return is_cut_ ? 0 : rest_.size(); }
  /// All was there, and nothing else.
  [[nodiscard]] bool is_whole() const { return !is_cut_ && rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
  bool is_cut_ = false;
};

}  // namespace udtcat::core
