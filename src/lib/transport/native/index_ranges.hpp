/// A set of packet indices kept as ranges: UDT's loss list.
#pragma once

#include <iterator>
#include <map>
#include <utility>

#include "lib/transport/native/sequence.hpp"

namespace udtcat::transport::native {

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
      auto node = ranges_.extract(range);  // from the front, one by one, is the usual way: no allocation
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
