// SPDX-License-Identifier: Apache-2.0
/// A set of inodes that is small in memory: 11 to 21 bytes each, in a table of eight-byte places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/stat.h>

namespace udtcat::trees {

/// Open addressing with linear probing. Two inodes share a place in one of 2^64 cases. An inode whose number another
/// file has had is known by its birth, as FileLocation::birth() has it.
/// Threads: unsynchronised.
class InodeSet {
 public:
  void add(const struct stat& status, std::string_view birth) {
    if ((count_ + 1) * 4 > slots_.size() * 3) grow();
    const std::uint64_t key = key_of(status, birth);
    std::uint64_t& slot = slots_[slot_of(slots_, key)];
    if (slot == kFree) ++count_;
    slot = key;
  }
  [[nodiscard]] bool has(const struct stat& status, std::string_view birth) const {
    return !slots_.empty() && slots_[slot_of(slots_, key_of(status, birth))] != kFree;
  }

 private:
  static constexpr std::uint64_t kFree = 0;
  static constexpr std::size_t kFirstSlots = 64;  // guess: a small directory

  /// spec: MurmurHash3's finaliser, which no two numbers share
  [[nodiscard]] static std::uint64_t key_of(const struct stat& status, std::string_view birth) {
    constexpr std::uint64_t kFirstFactor = 0xFF51AFD7ED558CCD;
    constexpr std::uint64_t kSecondFactor = 0xC4CEB9FE1A85EC53;
    constexpr unsigned kShift = 33;
    std::uint64_t key = status.st_ino ^ (std::uint64_t{status.st_dev} << kShift);
    if (!birth.empty()) key ^= std::hash<std::string_view>()(birth);
    key = (key ^ key >> kShift) * kFirstFactor;
    key = (key ^ key >> kShift) * kSecondFactor;
    key ^= key >> kShift;
    return key == kFree ? 1 : key;
  }
  /// The place of the key, or the free one where it would be.
  [[nodiscard]] static std::size_t slot_of(const std::vector<std::uint64_t>& slots, std::uint64_t key) {
    std::size_t at = key & (slots.size() - 1);
    while (slots[at] != kFree && slots[at] != key) at = (at + 1) & (slots.size() - 1);
    return at;
  }
  void grow() {
    std::vector<std::uint64_t> larger(slots_.empty() ? kFirstSlots : slots_.size() * 2, kFree);
    for (const std::uint64_t key : slots_)
      if (key != kFree) larger[slot_of(larger, key)] = key;
    slots_ = std::move(larger);
  }

  std::vector<std::uint64_t> slots_;  // a power of two of them
  std::size_t count_ = 0;
};

}  // namespace udtcat::trees
