// SPDX-License-Identifier: Apache-2.0
/// UDT's 31-bit sequence numbers, the packet index that this module counts with instead, and containers by index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace udtcat::transport::native {

/// A packet's place in its direction of a connection: 0 for the first. Never wraps.
using PacketIndex = std::uint64_t;

/// The largest flow window, whatever a peer claims.
inline constexpr std::uint32_t kMaxWindowPackets =
    1 << 20;  // guess: 1.5 GB of Internet packets; libudt allocates 24 bytes for each
inline constexpr std::uint32_t kSequenceMask = 0x7fff'ffff;  // spec: UDT4, bit 31 tells control from data

/// Translates between indices and what is on the wire.
/// Threads: immutable.
class SequenceSpace {
 public:
  explicit SequenceSpace(std::uint32_t initial) : initial_(initial & kSequenceMask) {}

  [[nodiscard]] std::uint32_t on_wire(PacketIndex index) const {
    return static_cast<std::uint32_t>(initial_ + index) & kSequenceMask;
  }
  /// The index nearest to `near` whose sequence number is `sequence`. None: it is before the first packet, or bit 31 is
  /// set, as in no sequence number.
  [[nodiscard]] std::optional<PacketIndex> index_of(std::uint32_t sequence, PacketIndex near) const {
    if (sequence > kSequenceMask) return std::nullopt;
    const std::uint32_t ahead = (sequence - on_wire(near)) & kSequenceMask;
    constexpr std::uint32_t kHalf = 1U << 30;
    if (ahead < kHalf) return near + ahead;
    const std::uint32_t behind = (kSequenceMask + 1) - ahead;
    if (behind > near) return std::nullopt;
    return near - behind;
  }

 private:
  std::uint32_t initial_;
};

/// A queue whose elements keep their index while others leave at its front. Grows by doubling and never shrinks;
/// bounded by its user.
/// Threads: unsynchronised.
template <typename Element>
class IndexedRing {
 public:
  /// The index of the first element, and one past that of the last.
  [[nodiscard]] std::uint64_t begin_index() const { return begin_; }
  [[nodiscard]] std::uint64_t end_index() const { return end_; }
  [[nodiscard]] bool empty() const { return begin_ == end_; }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
  [[nodiscard]] bool contains(std::uint64_t index) const { return index >= begin_ && index < end_; }

  /// index   for which contains() is true
  [[nodiscard]] Element& operator[](std::uint64_t index) { return slots_[index & (slots_.size() - 1)]; }
  [[nodiscard]] const Element& operator[](std::uint64_t index) const { return slots_[index & (slots_.size() - 1)]; }

  Element& push_back(Element element) {
    if (size() == slots_.size()) grow();
    Element& slot = (*this)[end_++];
    slot = std::move(element);
    return slot;
  }
  void pop_front() { std::exchange((*this)[begin_++], Element{}); }

 private:
  void grow() {
    std::vector<Element> larger(slots_.empty() ? kFirstSize : 2 * slots_.size());
    for (std::uint64_t i = begin_; i < end_; ++i) larger[i & (larger.size() - 1)] = std::move((*this)[i]);
    slots_ = std::move(larger);
  }

  static constexpr std::size_t kFirstSize = 64;  // a power of two, as all sizes are
  std::vector<Element> slots_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

/// A set of packet indices, kept as ranges: the loss list of UDT's sender.
/// Threads: unsynchronised.
class IndexRanges {
 public:
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  /// The lowest index.  Not of an empty set.
  [[nodiscard]] PacketIndex front() const { return ranges_.begin()->first; }

  /// Adds one index; nothing happens if it is there.
  void insert(PacketIndex index) {
    auto next = ranges_.upper_bound(index);
    if (next != ranges_.begin()) {
      auto before = std::prev(next);
      if (index <= before->second) return;
      if (index == before->second + 1) {
        before->second = index;
        return merge(before, next);
      }
    }
    merge(ranges_.emplace_hint(next, index, index), next);
  }

  /// Removes one index; nothing happens if it is not there.
  void erase(PacketIndex index) {
    auto next = ranges_.upper_bound(index);
    if (next == ranges_.begin()) return;
    const auto range = std::prev(next);
    if (index > range->second) return;
    if (range->first == index) {
      auto node = ranges_.extract(range);  // most leave one by one from the front: no allocation
      if (index == node.mapped()) return;
      node.key() = index + 1;
      ranges_.insert(next, std::move(node));
      return;
    }
    const PacketIndex last = std::exchange(range->second, index - 1);
    if (index < last) ranges_.emplace_hint(next, index + 1, last);
  }

  [[nodiscard]] bool contains(PacketIndex index) const {
    const auto next = ranges_.upper_bound(index);
    return next != ranges_.begin() && index <= std::prev(next)->second;
  }

 private:
  using Ranges = std::map<PacketIndex, PacketIndex>;  // first to last, neither overlapping nor adjacent

  void merge(Ranges::iterator range, Ranges::iterator next) {
    if (next == ranges_.end() || next->first != range->second + 1) return;
    range->second = next->second;
    ranges_.erase(next);
  }

  Ranges ranges_;
};

}  // namespace udtcat::transport::native
