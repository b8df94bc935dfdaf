// SPDX-License-Identifier: Apache-2.0
/// The arrival rate that an ACK reports to a UDT4 sender: packets counted over an interval, or the gaps between them.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// The rate over an interval: packets that were read by one system call have no times of their own.
/// Threads: unsynchronised; time is a parameter.
class ArrivalRate {
 public:
  void on_packet() { ++packets_; }
  /// Ends the interval if it has lasted 10 ms.
  void close_interval(TimePoint now) {
    const auto elapsed = now - since_;
    if (elapsed < kSyn) return;
    if (packets_ > 0 && since_ != TimePoint{}) {
      const double seconds = std::chrono::duration<double>(elapsed).count();
      rate_ = static_cast<std::uint32_t>(std::min(static_cast<double>(packets_) / seconds, 1e9)) + 1;
      peak_ = std::max(rate_, peak_ - peak_ / 32);
    }
    packets_ = 0;
    since_ = now;
  }
  /// Packets a second; 0: not known yet.
  [[nodiscard]] std::uint32_t rate_packets() const { return rate_; }
  /// Packets a second that the link may carry, towards which UDT's rate law grows. Packet pairs, by which UDT4 finds
  /// it, cannot be timed where they are read by one system call.
  [[nodiscard]] std::uint32_t capacity_packets() const { return 2 * peak_; }  // guess: room to double

 private:
  std::uint64_t packets_ = 0;
  TimePoint since_{};
  std::uint32_t rate_ = 0;
  std::uint32_t peak_ = 0;
};

/// The rates by the gaps between packets of a plain UDT4 sender. Each is that of the median gap, which neither a pause
/// nor a late packet changes.  source: udt4.md §12
/// Threads: unsynchronised; time is a parameter.
class ArrivalTimes {
 public:
  /// A packet came, for the first time or again.
  /// when   by the clock of the system, which sees each packet arrive
  void on_packet(std::uint32_t sequence, std::chrono::nanoseconds when) {
    if (last_when_) {
      intervals_.add(when - *last_when_);
      // A UDT4 sender sends each sixteenth packet and the next one as a packet pair.
      if (sequence % kPairEvery == 1 && last_sequence_ == sequence - 1) pairs_.add(when - *last_when_);
    }
    last_when_ = when;
    last_sequence_ = sequence;
  }
  /// Packets a second within bursts, the pauses left out; 0: not known yet. libudt computes its window from it.
  [[nodiscard]] std::uint32_t rate_packets() const { return intervals_.per_second(); }
  /// Packets a second that the link may carry, towards which UDT's rate law grows.
  [[nodiscard]] std::uint32_t capacity_packets() const { return pairs_.per_second(); }

 private:
  static constexpr std::uint32_t kPairEvery = 16;  // spec: UDT4
  static constexpr std::chrono::nanoseconds kClosest{
      2000};  // guess: shorter gaps are of packets that came as one train; no host takes them faster

  template <std::size_t kSize>
  class Recent {
   public:
    void add(std::chrono::nanoseconds interval) { intervals_[count_++ % kSize] = std::max(interval, kClosest); }
    [[nodiscard]] std::uint32_t per_second() const {
      const std::size_t known = std::min(count_, kSize);
      if (known < kSize / 8) return 0;
      auto sorted = intervals_;
      const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(known / 2);
      std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(known));
      return static_cast<std::uint32_t>(std::chrono::nanoseconds(std::chrono::seconds(1)) / *middle) + 1;
    }

   private:
    std::array<std::chrono::nanoseconds, kSize> intervals_{};
    std::size_t count_ = 0;
  };

  Recent<16> intervals_;  // spec: UDT4
  Recent<64> pairs_;      // spec: libudt 4.11
  std::optional<std::chrono::nanoseconds> last_when_;
  std::uint32_t last_sequence_ = 0;
};

}  // namespace udtcat::transport::native
