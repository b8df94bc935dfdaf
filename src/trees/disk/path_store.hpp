// SPDX-License-Identifier: Apache-2.0
/// Many paths in little memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace udtcat::trees {

/// Finds numbers by what they stand for, which their owner knows.
/// Threads: unsynchronised.
class NumberTable {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// is_it   whether a number stands for what is looked for.  returns  kNone: nothing does
  template <typename IsIt>
  [[nodiscard]] std::uint32_t find(std::size_t hash, const IsIt& is_it) const {
    if (slots_.empty()) return kNone;
    for (std::size_t at = hash & mask();; at = (at + 1) & mask())
      if (slots_[at] == kNone || is_it(slots_[at])) return slots_[at];
  }
  /// hash_of   of a number that is in it already
  template <typename HashOf>
  void add(std::uint32_t number, std::size_t hash, const HashOf& hash_of) {
    if (2 * (count_ + 1) > slots_.size()) grow(hash_of);
    put(number, hash);
    ++count_;
  }
  [[nodiscard]] std::size_t bytes() const { return slots_.capacity() * sizeof(std::uint32_t); }

 private:
  static constexpr std::size_t kFirstSlots = 64;  // guess: a power of two

  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
  void put(std::uint32_t number, std::size_t hash) {
    std::size_t at = hash & mask();
    while (slots_[at] != kNone) at = (at + 1) & mask();
    slots_[at] = number;
  }
  template <typename HashOf>
  void grow(const HashOf& hash_of) {
    const std::vector<std::uint32_t> before = std::move(slots_);
    slots_.assign(before.empty() ? kFirstSlots : 2 * before.size(), kNone);
    for (const std::uint32_t number : before)
      if (number != kNone) put(number, hash_of(number));
  }

  std::vector<std::uint32_t> slots_;
  std::size_t count_ = 0;
};

/// Each word is kept once, and each directory once: a path costs what its last word does, and 16 bytes.
/// Threads: unsynchronised.
class PathStore {
 public:
  /// The number of a path; valid as long as the store.
  using Number = std::uint32_t;
  static constexpr Number kNone = NumberTable::kNone;

  /// path   of an entry: words of at most 255 bytes.  The same path gets the same number.
  [[nodiscard]] Number add(std::string_view path);
  /// kNone: it has not been added.
  [[nodiscard]] Number find(std::string_view path) const;
  [[nodiscard]] std::string path(Number number) const;
  /// Every number is below it.
  [[nodiscard]] std::size_t numbers() const { return nodes_.size(); }
  /// The memory that it takes.
  [[nodiscard]] std::size_t bytes() const;

 private:
  static constexpr Number kRoot = NumberTable::kNone;
  static constexpr std::size_t kChunkBytes = 262'144;  // guess: a thousand long words

  struct Node {
    Number above;
    std::uint32_t word;
  };
  [[nodiscard]] Number find(const Node& node) const;
  [[nodiscard]] std::uint32_t find_word(std::string_view word) const;
  [[nodiscard]] std::uint32_t add_word(std::string_view word);
  [[nodiscard]] std::string_view word(std::uint32_t at) const;
  [[nodiscard]] static std::size_t hash_of(const Node& node);

  // A word lies at `at` bytes from the first chunk's beginning, behind its length.
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::size_t used_ = 0;  // bytes of the chunks
  std::vector<Node> nodes_;
  NumberTable words_;
  NumberTable paths_;
};

}  // namespace udtcat::trees
