// SPDX-License-Identifier: Apache-2.0
/// The packets that were sent again, in the order in which they left last.
#pragma once

#include <cstddef>
#include <deque>

#include "lib/transport/native/sent_packets.hpp"
#include "lib/transport/native/sequence.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// Each look costs as much as it takes.
/// source: RFC 8985 §5.1, RACK.rtx
/// Threads: unsynchronised.
class SentAgain {
 public:
  /// The packet has left again just now.
  void on_sent(const SentPackets& packets, PacketIndex index) {
    entries_.push_back({index, packets[index].sent_at});
    // Entries of copies before the last go, so that there is one for each packet at most.
    if (entries_.size() > 2 * packets.size() + kLeastEntries)
      std::erase_if(entries_, [&](const Entry& entry) { return !is_last_copy(packets, entry); });
  }
  /// Takes the packets whose last copy left before `time`, and calls `each` with the index of those in flight.
  template <typename Each>
  void take_before(const SentPackets& packets, TimePoint time, Each each) {
    for (; !entries_.empty() && entries_.front().sent_at < time; entries_.pop_front()) {
      const Entry& entry = entries_.front();
      if (is_last_copy(packets, entry) && !packets[entry.index].lost) each(entry.index);
    }
  }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    PacketIndex index;
    TimePoint sent_at;
  };
  static constexpr std::size_t kLeastEntries = 64;  // guess: rarely cleared

  static bool is_last_copy(const SentPackets& packets, const Entry& entry) {
    return packets.contains(entry.index) && packets[entry.index].sent_at == entry.sent_at;
  }

  std::deque<Entry> entries_;
};

}  // namespace udtcat::transport::native
