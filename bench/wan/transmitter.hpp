// SPDX-License-Identifier: Apache-2.0
/// How long bytes take to leave: at a rate, or by the opportunities of a trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <udtcat/units.hpp>

#include "wan/time.hpp"
#include "wan/trace.hpp"

namespace udtcat::wan {

/// Sends one packet after the other. Of bytes that are `ready` at a time, none leaves before it. Threads:
/// unsynchronised.
class Transmitter {
 public:
  /// From now on, also for what is being sent: `sent_bytes` of it have left.
  /// trace   none: at the rate
  void set(BitRate rate, std::shared_ptr<const Trace> trace, TimePoint now, std::size_t sent_bytes);

  /// When the first of these bytes can leave.
  [[nodiscard]] TimePoint begin(std::size_t bytes, TimePoint ready) const;
  /// When the last of these bytes has left.
  [[nodiscard]] TimePoint end(std::size_t bytes, TimePoint ready) const;
  /// Sends these bytes: the link is busy until end().
  void send(std::size_t bytes, TimePoint ready);
  /// How many bytes have left by now of a packet that has not left whole.
  [[nodiscard]] std::size_t sent_bytes(TimePoint ready, TimePoint now) const;

  [[nodiscard]] bool unlimited() const { return rate_.unlimited() && !trace_; }
  /// Bytes that may leave together: the first of them is hardly late.
  [[nodiscard]] std::size_t longest_run_bytes() const { return longest_run_bytes_; }

 private:
  using Picoseconds = std::chrono::duration<std::int64_t, std::pico>;
  /// Of a trace: those before `next` are used, but for a rest of the last of them.
  struct Opportunities {
    std::uint64_t next = 0;
    std::size_t rest_bytes = 0;
  };

  [[nodiscard]] TimePoint free_at() const;
  [[nodiscard]] Picoseconds time_of_bytes(std::size_t bytes) const;
  [[nodiscard]] Opportunities used_after(std::size_t bytes, TimePoint ready) const;
  [[nodiscard]] TimePoint time_of_opportunity(std::uint64_t opportunity) const {
    return trace_begin_ + trace_->at(opportunity);
  }

  BitRate rate_{};
  std::shared_ptr<const Trace> trace_;
  Picoseconds byte_time_{0};
  std::size_t longest_run_bytes_ = SIZE_MAX;
  std::size_t sent_bytes_ = 0;  // of the first packet, at a rate that has changed since
  TimePoint busy_since_{};      // it has been sending since then,
  Picoseconds busy_for_{0};     // for so long
  TimePoint trace_begin_{};
  Opportunities used_;
};

}  // namespace udtcat::wan
