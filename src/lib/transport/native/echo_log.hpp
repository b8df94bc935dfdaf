// SPDX-License-Identifier: Apache-2.0
/// When a packet was sent whose timestamp the peer echoes, and the delivery rate snapshot of that moment.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "lib/transport/native/delivery_rate.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// An ACK of one of our own peers echoes the timestamp of the packet that arrived last, be it new data or a
/// retransmission. By the acknowledged packet alone, a flow of many retransmissions would give no rate sample until the
/// oldest gap is filled.
/// Threads: unsynchronised.
class EchoLog {
 public:
  struct Entry {
    std::uint32_t timestamp_us = 0;
    TimePoint sent_at{};
    DeliverySnapshot snapshot;
  };

  /// Packets with the same timestamp: the last one counts.
  void on_sent(const Entry& entry) {
    if (!entries_.empty() && entries_.back().timestamp_us == entry.timestamp_us) entries_.pop_back();
    entries_.push_back(entry);
    if (entries_.size() > kMostEntries) entries_.pop_front();
  }
  /// none: no packet left at that time, or too long ago
  [[nodiscard]] std::optional<Entry> find(std::uint32_t timestamp_us) {
    // Timestamps wrap: they are ordered by their distance from the first entry.
    const auto age = [&](const Entry& entry) { return entry.timestamp_us - entries_.front().timestamp_us; };
    if (entries_.empty()) return std::nullopt;
    const auto found = std::ranges::lower_bound(entries_, timestamp_us - entries_.front().timestamp_us, {}, age);
    if (found == entries_.end() || found->timestamp_us != timestamp_us) return std::nullopt;
    const Entry entry = *found;
    // The echo of an earlier packet may still come, but its sample would say less.
    entries_.erase(entries_.begin(), found);
    return entry;
  }
  void clear() { entries_.clear(); }

 private:
  static constexpr std::size_t kMostEntries = 8192;  // guess: trains in flight

  std::deque<Entry> entries_;
};

}  // namespace udtcat::transport::native
