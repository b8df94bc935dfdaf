// SPDX-License-Identifier: Apache-2.0
/// How long datagrams may gather before the driver reads its socket again.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// Interrupt moderation, as network cards have it: the first datagram after a pause is read when it comes; in a
/// stream of them each would wake us, so that they are fetched together, at the cost of a small part of a round trip.
/// Threads: unsynchronised; time is a parameter.
class WakeModeration {
 public:
  static constexpr Duration kMaxGather = std::chrono::milliseconds(2);  // guess: as late as a busy machine wakes
  static constexpr Duration kLeastGather =
      std::chrono::microseconds(100);                  // guess: to arm a timer for less costs more than it saves
  static constexpr Duration kStream = 2 * kMaxGather;  // wake-ups that follow each other so closely are a stream's
  static constexpr int kRttShare = 16;                 // guess
  static constexpr std::uint64_t kBufferShare = 8;  // guess: what gathers must not come near what the system would drop

  /// buffer_bytes   the socket's receive buffer
  explicit WakeModeration(std::size_t buffer_bytes) : buffer_bytes_(buffer_bytes) {}

  /// A wake-up has fetched `bytes`, for connections whose shortest round trip is `rtt`.
  /// returns  zero: wait for the next datagram; else read again after so long
  [[nodiscard]] Duration after_wake(TimePoint now, std::uint64_t bytes, Duration rtt) {
    const Duration since = now - last_wake_;
    last_wake_ = now;
    if (bytes == 0 || since > kStream) return Duration::zero();
    const auto share =
        static_cast<std::int64_t>(static_cast<double>(since.count()) * static_cast<double>(buffer_bytes_) /
                                  static_cast<double>(bytes * kBufferShare));
    const Duration gather = std::min({kMaxGather, rtt / kRttShare, Duration(share)});
    return gather < kLeastGather ? Duration::zero() : gather;
  }

 private:
  const std::size_t buffer_bytes_;
  TimePoint last_wake_{};
};

}  // namespace udtcat::transport::native
