// SPDX-License-Identifier: Apache-2.0
/// A rate that several streams have together.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <udtcat/units.hpp>

namespace udtcat::core {

/// Says when bytes may pass, one caller after the other: the generic cell rate algorithm with a burst of kBurst.
/// source: ITU-T I.371
/// Threads: unsynchronised.
class SharedRate {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds kBurst{50};  // guess: timers are late by a few; less than people notice
  static constexpr std::size_t kMinPieceBytes = 1'024;    // guess: at 64 kbit/s an eighth of a second

  explicit SharedRate(BitRate rate) : rate_(rate) {}

  /// Of what passes from now on.
  void set(BitRate rate) { rate_ = rate; }
  /// How much a stream takes at a time, so that others have their turn.
  [[nodiscard]] std::size_t piece_bytes() const {
    const std::uint64_t bytes = rate_.unlimited() ? SIZE_MAX : rate_.bytes_per_second() * kBurst.count() / 1'000;
    return std::max<std::uint64_t>(bytes, kMinPieceBytes);
  }
  /// When a stream that has passed nothing yet may begin: behind what others have passed.
  [[nodiscard]] TimePoint next() const { return next_; }
  /// Bytes pass now.  returns  when the next ones of the same stream may
  [[nodiscard]] TimePoint pass(std::size_t bytes, TimePoint now) {
    next_ = std::max(next_, now - kBurst) + time_of(bytes);
    return next_;
  }
  /// As many of those have not passed.  returns  by how much sooner the next ones may
  std::chrono::nanoseconds take_back(std::size_t bytes) {
    next_ -= time_of(bytes);
    return time_of(bytes);
  }

 private:
  [[nodiscard]] std::chrono::nanoseconds time_of(std::size_t bytes) const {
    if (rate_.unlimited()) return std::chrono::nanoseconds(0);
    constexpr double kNanoseconds = 1e9;
    const double seconds = static_cast<double>(bytes) * 8 / static_cast<double>(rate_.bits_per_second());
    return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * kNanoseconds));
  }

  BitRate rate_;
  TimePoint next_{};
};

/// Of a peer, each way.
struct PeerRates {
  explicit PeerRates(BitRate rate) : sent(rate), received(rate) {}

  SharedRate sent;
  SharedRate received;
};

}  // namespace udtcat::core
