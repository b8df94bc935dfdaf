// SPDX-License-Identifier: Apache-2.0
/// Whether loss grows with the sending rate: that of a policer does, random loss does not.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include <udtcat/stats.hpp>

#include "lib/core/stats_fields.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// Packets sent and lost in each span of time. Bounded: a loss that is found more than three seconds later is not
/// counted.
/// Threads: unsynchronised; time is a parameter.
class LossByRateMeter {
 public:
  struct Sums {
    LossByRate all;
    LossByRate behind_loss;  ///< of the spans that follow one with loss
  };

  void on_sent(TimePoint now) {
    const std::int64_t number = number_of(now);
    Span& span = spans_[slot_of(number)];
    if (span.number != number) {
      add(span, ended_);
      const Span* before = find(number - 1);
      span = {.number = number, .behind_loss = before != nullptr && before->lost > 0};
    }
    ++span.sent;
  }
  /// with_queue   the round trip showed a queue, so that the loss is that of a full one: the span is left out
  void on_lost(TimePoint sent_at, bool with_queue) {
    const std::int64_t number = number_of(sent_at);
    Span* span = find(number);
    if (span == nullptr) return;
    ++span->lost;
    span->with_queue = span->with_queue || with_queue;
    if (Span* next = find(number + 1)) next->behind_loss = true;
  }
  /// Of the spans that ended `wait` ago: all of their losses have been found.
  [[nodiscard]] Sums sums(TimePoint now, Duration wait) const {
    Sums made = ended_;
    for (const Span& span : spans_)
      if (span.number < number_of(now - wait)) add(span, made);
    return made;
  }

 private:
  static constexpr auto kSpan = std::chrono::milliseconds(50);  // guess: some packets at 1 Mbit/s; a round trip

  struct Span {
    std::int64_t number = 0;
    std::uint64_t sent = 0;
    std::uint64_t lost = 0;
    bool with_queue = false;
    bool behind_loss = false;
  };

  static std::int64_t number_of(TimePoint at) { return at.time_since_epoch() / kSpan; }
  [[nodiscard]] std::size_t slot_of(std::int64_t number) const {
    return static_cast<std::uint64_t>(number) % spans_.size();
  }
  /// null: no packet left in that span, or a later one has its slot
  [[nodiscard]] Span* find(std::int64_t number) {
    Span& span = spans_[slot_of(number)];
    return span.number == number ? &span : nullptr;
  }
  static void add(const Span& span, Sums& sums) {
    if (span.sent == 0 || span.with_queue) return;
    const LossByRate more{1, span.sent, span.lost, span.sent * span.sent, span.sent * span.lost};
    sums.all = core::sum(sums.all, more);
    if (span.behind_loss) sums.behind_loss = core::sum(sums.behind_loss, more);
  }

  std::array<Span, 64> spans_{};
  Sums ended_;
};

}  // namespace udtcat::transport::native
