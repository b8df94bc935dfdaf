// SPDX-License-Identifier: Apache-2.0
/// How fast packets arrive, which a UDT4 sender wants to hear in an ACK: counted over an interval, or by the gaps
/// between packets.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// Counts over an interval, since packets that one system call read have no times of their own.
/// Threads: unsynchronised; time is a parameter.
class ArrivalRate {
 public:
  void on_packet() { ++packets_; }
  /// Ends an interval of at least 10 ms, or goes on with it.
  void settle(TimePoint now) {
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
  /// Packets a second; 0 before anything is known.
  [[nodiscard]] std::uint32_t rate_packets() const { return rate_; }
  /// The rate that the link may carry: a rate-law sender grows towards it. Pairs that arrive in one batch
  /// cannot be timed.
  [[nodiscard]] std::uint32_t capacity_packets() const { return 2 * peak_; }  // guess: room to double

 private:
  std::uint64_t packets_ = 0;
  TimePoint since_{};
  std::uint32_t rate_ = 0;
  std::uint32_t peak_ = 0;
};

/// How closely the packets of a plain UDT4 sender follow each other when they arrive: what its rate law wants to hear
/// in an ACK. Both words are of the middle one of recent intervals, so that a pause or a packet that came late changes
/// nothing. source: udt4.md §12
/// Threads: unsynchronised; time is a parameter.
class ArrivalTimes {
 public:
  /// A packet came, for the first time or again.
  /// when   by a clock that sees each packet arrive
  void on_packet(std::uint32_t sequence, std::chrono::nanoseconds when) {
    if (last_when_) {
      intervals_.add(when - *last_when_);
      // A sender lets every sixteenth packet be followed at once by the next one.
      if (sequence % kPairEvery == 1 && last_sequence_ == sequence - 1) pairs_.add(when - *last_when_);
    }
    last_when_ = when;
    last_sequence_ = sequence;
  }
  /// Packets a second within bursts, the pauses left out; 0 before anything is known. libudt makes a window of it.
  [[nodiscard]] std::uint32_t rate_packets() const { return intervals_.per_second(); }
  /// Packets a second that the link may carry: a rate-law sender grows towards it.
  [[nodiscard]] std::uint32_t capacity_packets() const { return pairs_.per_second(); }

 private:
  static constexpr std::uint32_t kPairEvery = 16;  // spec: UDT4
  static constexpr std::chrono::nanoseconds kClosest{
      2000};  // guess: what came as one train; no host takes packets faster

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
