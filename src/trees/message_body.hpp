// SPDX-License-Identifier: Apache-2.0
/// The body of a message, number by number and text by text. Bytes: docs/spec/trees.md §1.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <udtcat/result.hpp>

#include "files/sha256.hpp"
#include "lib/core/byte_order.hpp"
#include "lib/core/invariant.hpp"

namespace udtcat::trees {

// message.hpp
struct Hello;
struct Entry;

/// Appends to a message.
class BodyWriter {
 public:
  explicit BodyWriter(std::vector<std::byte>& to) : to_(to) {}

  /// Makes room for a body of so many bytes at once; many small ones grow the memory as they come.
  void expect(std::size_t bytes) {
    if (to_.capacity() - to_.size() < bytes) to_.reserve(std::max(to_.size() + bytes, 2 * to_.capacity()));
  }
  template <std::unsigned_integral T>
  void number(T value) {
    const std::size_t begin = to_.size();
    to_.resize(begin + sizeof value);
    core::store_be(std::span(to_).subspan(begin), value);
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

/// Takes a body from its front. What is not there reads as zeros or nothing, and is_whole() says so: ask it before
/// anything is believed.
class BodyReader {
 public:
  explicit BodyReader(std::span<const std::byte> body) : rest_(body) {}

  template <std::unsigned_integral T>
  T number() {
    const auto from = bytes(sizeof(T));
    return from.empty() ? T{0} : core::load_be<T>(from);
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
    const auto from = bytes(number<Length>());
    // SAFETY: any byte is a char.
    return {reinterpret_cast<const char*>(from.data()), from.size()};
  }

  [[nodiscard]] bool is_cut() const { return is_cut_; }
  [[nodiscard]] std::size_t rest_bytes() const { return is_cut_ ? 0 : rest_.size(); }
  /// All was there, and nothing else.
  [[nodiscard]] bool is_whole() const { return !is_cut_ && rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
  bool is_cut_ = false;
};

/// Not empty, not too long, and no NUL, at which the system would cut it.
[[nodiscard]] inline bool is_name(std::string_view text, std::size_t max_bytes) {
  return !text.empty() && text.size() <= max_bytes && text.find('\0') == std::string_view::npos;
}

[[nodiscard]] inline tl::unexpected<Error> message_violation(std::string cause) {
  return fail(Errc::protocol_violated, "read a message", std::move(cause));
}

inline constexpr std::uint64_t kEntryIds = 1ULL << 63;  // spec: docs/spec/trees.md §1: they are below

void encode_hello(const Hello& hello, BodyWriter& body);
/// errors: Errc::protocol_violated
[[nodiscard]] Result<Hello> decode_hello(BodyReader body);

void encode_entry(const Entry& entry, BodyWriter& body);
/// errors: Errc::protocol_violated
[[nodiscard]] Result<Entry> decode_entry(BodyReader body);

}  // namespace udtcat::trees
