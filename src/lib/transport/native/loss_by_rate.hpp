// SPDX-License-Identifier: Apache-2.0
/// Whether loss grows with the rate at which packets leave: a policer's does, chance's does not.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include <udtcat/evidence.hpp>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// Packets sent and lost, by the span of time in which they left. Bounded: a loss that is found three seconds late
/// counts no more.
/// Threads: unsynchronised; time is a parameter.
class LossByRateMeter {
 public:
  void on_sent(TimePoint now) {
    const std::int64_t number = number_of(now);
    Span& span = spans_[slot_of(number)];
    if (span.number != number) {
      add(span, settled_);
      span = {.number = number};
    }
    ++span.sent;
  }
  /// with_queue   a full queue's loss: the span says nothing of the path
  void on_lost(TimePoint sent_at, bool with_queue) {
    Span& span = spans_[slot_of(number_of(sent_at))];
    if (span.number != number_of(sent_at)) return;
    ++span.lost;
    span.with_queue = span.with_queue || with_queue;
  }
  /// Of the spans whose losses are known: they ended `wait` ago.
  [[nodiscard]] LossByRate sums(TimePoint now, Duration wait) const {
    LossByRate made = settled_;
    for (const Span& span : spans_)
      if (span.number < number_of(now - wait)) add(span, made);
    return made;
  }

 private:
  static constexpr auto kSpan = std::chrono::milliseconds(50);  // guess: some packets at 1 Mbit/s, and a round trip

  struct Span {
    std::int64_t number = 0;
    std::uint64_t sent = 0;
    std::uint64_t lost = 0;
    bool with_queue = false;
  };

  static std::int64_t number_of(TimePoint at) { return at.time_since_epoch() / kSpan; }
  [[nodiscard]] std::size_t slot_of(std::int64_t number) const {
    return static_cast<std::uint64_t>(number) % spans_.size();
  }
  static void add(const Span& span, LossByRate& sums) {
    if (span.sent == 0 || span.with_queue) return;
    ++sums.spans;
    sums.sent += span.sent;
    sums.lost += span.lost;
    sums.sent_squared += span.sent * span.sent;
    sums.sent_by_lost += span.sent * span.lost;
  }

  std::array<Span, 64> spans_{};
  LossByRate settled_;
};

}  // namespace udtcat::transport::native
