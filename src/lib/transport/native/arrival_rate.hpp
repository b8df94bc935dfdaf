/// How fast packets arrive: what a UDT4 sender wants to hear in an ACK.
#pragma once

#include <algorithm>
#include <cstdint>

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
    if (elapsed < kInterval) return;
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
  /// What the link may carry: a rate-law sender grows towards it. Pairs that arrive in one batch cannot be timed.
  [[nodiscard]] std::uint32_t capacity_packets() const { return 2 * peak_; }  // guess: room to double

 private:
  static constexpr Duration kInterval = std::chrono::milliseconds(10);  // spec: UDT4, SYN
  std::uint64_t packets_ = 0;
  TimePoint since_{};
  std::uint32_t rate_ = 0;
  std::uint32_t peak_ = 0;
};

}  // namespace udtcat::transport::native
