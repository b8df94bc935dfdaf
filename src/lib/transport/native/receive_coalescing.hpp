// SPDX-License-Identifier: Apache-2.0
/// How long datagrams may gather before the port reads its socket again.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// As the interrupt coalescing of network cards: the first datagram after a pause is read when it comes; in a stream of
/// them each would wake the io_context's thread, so that they are read together, at the cost of a small part of a round
/// trip.
/// Threads: unsynchronised; time is a parameter.
class ReceiveCoalescing {
 public:
  static constexpr Duration kMaxDelay = std::chrono::milliseconds(2);  // guess: as late as a busy machine wakes
  static constexpr Duration kLeastDelay =
      std::chrono::microseconds(100);                 // guess: to arm a timer for less costs more than it saves
  static constexpr Duration kStream = 2 * kMaxDelay;  // wake-ups that follow each other so closely are a stream's
  static constexpr int kRttPart = 16;                 // guess
  static constexpr std::uint64_t kBufferPart = 8;  // guess: what gathers must not come near what the system would drop

  /// buffer_bytes   the socket's receive buffer
  explicit ReceiveCoalescing(std::size_t buffer_bytes) : buffer_bytes_(buffer_bytes) {}

  /// A wake-up has read so many bytes, and some for a connection of that round trip.
  void on_read(std::size_t bytes) { bytes_ += bytes; }
  void on_connection(Duration rtt) { least_rtt_ = std::min(least_rtt_, rtt); }
  /// The wake-up has read all that was there.  returns   after how long to read again; zero: at the next datagram
  [[nodiscard]] Duration after_wake(TimePoint now) {
    const Duration since = now - last_wake_;
    const std::uint64_t bytes = bytes_;
    const Duration least_rtt = least_rtt_;
    last_wake_ = now;
    bytes_ = 0;
    least_rtt_ = Duration::max();
    if (bytes == 0 || since > kStream) return Duration::zero();
    const auto part =
        static_cast<std::int64_t>(static_cast<double>(since.count()) * static_cast<double>(buffer_bytes_) /
                                  static_cast<double>(bytes * kBufferPart));
    const Duration delay = std::min({kMaxDelay, least_rtt / kRttPart, Duration(part)});
    return delay < kLeastDelay ? Duration::zero() : delay;
  }

 private:
  const std::size_t buffer_bytes_;
  TimePoint last_wake_{};
  std::uint64_t bytes_ = 0;               // since the last wake-up
  Duration least_rtt_ = Duration::max();  // likewise
};

}  // namespace udtcat::transport::native
