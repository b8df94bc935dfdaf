// SPDX-License-Identifier: Apache-2.0
/// Where the connection stood when the packet left that the peer says came last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "lib/transport/native/delivery_rate.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// One of our peers echoes the timestamp of the latest packet to arrive, whether it was sent first or again. A flow
/// that repairs much would else show no rate until the highest packet moves on.
/// Threads: unsynchronised.
class EchoLog {
 public:
  struct Entry {
    std::uint32_t timestamp_us = 0;
    TimePoint sent_at{};
    DeliverySnapshot snapshot;
  };

  /// Of packets that leave at one time the last counts.
  void on_sent(const Entry& entry) {
    if (!entries_.empty() && entries_.back().timestamp_us == entry.timestamp_us) entries_.pop_back();
    entries_.push_back(entry);
    if (entries_.size() > kMostEntries) entries_.pop_front();
  }
  /// none: it left too long ago, or never
  [[nodiscard]] std::optional<Entry> find(std::uint32_t timestamp_us) {
    // Timestamps wrap, so that only their distance from the first tells which is the later one.
    const auto age = [&](const Entry& entry) { return entry.timestamp_us - entries_.front().timestamp_us; };
    if (entries_.empty()) return std::nullopt;
    const auto found = std::ranges::lower_bound(entries_, timestamp_us - entries_.front().timestamp_us, {}, age);
    if (found == entries_.end() || found->timestamp_us != timestamp_us) return std::nullopt;
    const Entry entry = *found;
    // Packets that left before may still come, late, and say less.
    entries_.erase(entries_.begin(), found);
    return entry;
  }
  void clear() { entries_.clear(); }

 private:
  static constexpr std::size_t kMostEntries =
      8192;  // guess: trains in flight; of more the oldest are too old to matter

  std::deque<Entry> entries_;
};

}  // namespace udtcat::transport::native
