// SPDX-License-Identifier: Apache-2.0
/// The records of a flow that its peer's transport may not have. See docs/spec/record.md §5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include <udtcat/result.hpp>

#include "lib/core/shared_bytes.hpp"

namespace udtcat::session {

/// A record on its way.
struct SentRecord {
  core::SharedBytes bytes;
  std::uint64_t end_offset = 0;       ///< in what was written to its channel
  std::function<void(Status)> taken;  ///< when the transport has taken it up; null: it was called
};

/// In the order of sending. As many as the channel may retain: it shares the bytes of each.
/// Threads: unsynchronised.
class SentRecords {
 public:
  /// returns   its place, for take_handler()
  std::uint64_t add(SentRecord record) {
    records_.push_back(std::move(record));
    return first_ + records_.size() - 1;
  }
  /// The handler of the record at that place, once. Null: it was taken before, or the record is here no more.
  [[nodiscard]] std::function<void(Status)> take_handler(std::uint64_t place) {
    if (place < first_ || place - first_ >= records_.size()) return nullptr;
    return std::exchange(records_[static_cast<std::size_t>(place - first_)].taken, nullptr);
  }
  /// Forgets the records that end at `acknowledged` or before, and whose handlers were called.
  void forget_before(std::uint64_t acknowledged) {
    for (; !records_.empty() && records_.front().end_offset <= acknowledged && !records_.front().taken; ++first_)
      records_.pop_front();
  }
  /// All of them; none is left.
  [[nodiscard]] std::deque<SentRecord> take_all() {
    first_ += records_.size();
    return std::exchange(records_, {});
  }
  [[nodiscard]] bool empty() const { return records_.empty(); }

 private:
  std::deque<SentRecord> records_;
  std::uint64_t first_ = 0;  // the place of the first
};

}  // namespace udtcat::session
