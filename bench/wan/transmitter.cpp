// SPDX-License-Identifier: Apache-2.0
#include "wan/transmitter.hpp"

#include <algorithm>
#include <utility>

namespace udtcat::wan {
namespace {

using std::chrono::nanoseconds;

// A wire delivers a segment as soon as it has come; a run is delivered when its last one has, so it must not be long.
constexpr auto kLongestRun = std::chrono::microseconds(250);  // guess: within 2 % of the shortest round trips of a WAN

}  // namespace

void Transmitter::set(BitRate rate, std::shared_ptr<const Trace> trace, TimePoint now, std::size_t sent_bytes) {
  if (rate == rate_ && trace == trace_) return;
  rate_ = rate;
  trace_ = std::move(trace);
  constexpr std::uint64_t kPicosecondBits = 8'000'000'000'000;
  const std::uint64_t bits = rate.bits_per_second();
  byte_time_ = Picoseconds(unlimited() || trace_ ? 0 : static_cast<std::int64_t>((kPicosecondBits + bits / 2) / bits));
  longest_run_bytes_ = unlimited() ? SIZE_MAX
                       : trace_    ? 0
                                   : static_cast<std::size_t>(Picoseconds(kLongestRun) / byte_time_);
  sent_bytes_ = trace_ ? 0 : sent_bytes;
  busy_since_ = trace_begin_ = now;
  busy_for_ = Picoseconds(0);
  used_ = {};
}

TimePoint Transmitter::begin(std::size_t bytes, TimePoint ready) const {
  return trace_ ? end(bytes, ready) : std::max(ready, free_at());
}

TimePoint Transmitter::end(std::size_t bytes, TimePoint ready) const {
  if (trace_) return time_of_opportunity(used_after(bytes, ready).next - 1);
  const Picoseconds takes = time_of_bytes(bytes - std::min(bytes, sent_bytes_));
  return ready > free_at() ? ready + std::chrono::duration_cast<nanoseconds>(takes)
                           : busy_since_ + std::chrono::duration_cast<nanoseconds>(busy_for_ + takes);
}

void Transmitter::send(std::size_t bytes, TimePoint ready) {
  if (trace_) {
    used_ = used_after(bytes, ready);
    return;
  }
  if (ready > free_at()) {
    busy_since_ = ready;
    busy_for_ = Picoseconds(0);
  }
  const std::size_t sent_before = std::min(bytes, sent_bytes_);
  sent_bytes_ -= sent_before;
  busy_for_ += time_of_bytes(bytes - sent_before);
  // Picoseconds are for what is less than a second: a link may be busy for months.
  const auto seconds = std::chrono::floor<std::chrono::seconds>(busy_for_);
  busy_since_ += seconds;
  busy_for_ -= seconds;
}

std::size_t Transmitter::sent_bytes(TimePoint ready, TimePoint now) const {
  const auto sending_for = now - std::max(ready, free_at());
  if (byte_time_.count() == 0 || sending_for <= sending_for.zero()) return sent_bytes_;
  return sent_bytes_ + static_cast<std::size_t>(Picoseconds(sending_for) / byte_time_);
}

/// At most a month, of which nobody sees the end: a gigabyte at a bit a second has no time that could be added to.
Transmitter::Picoseconds Transmitter::time_of_bytes(std::size_t bytes) const {
  constexpr Picoseconds kMonth = std::chrono::days(30);
  if (byte_time_.count() > 0 && static_cast<std::int64_t>(bytes) > kMonth / byte_time_) return kMonth;
  return byte_time_ * static_cast<std::int64_t>(bytes);
}

TimePoint Transmitter::free_at() const { return busy_since_ + std::chrono::duration_cast<nanoseconds>(busy_for_); }

/// mahimahi's rule: a packet may take several opportunities, and several packets one; but an opportunity, or its rest,
/// is lost for what comes after it.
Transmitter::Opportunities Transmitter::used_after(std::size_t bytes, TimePoint ready) const {
  Opportunities used = used_;
  if (used.rest_bytes > 0 && ready >= time_of_opportunity(used.next - 1)) used.rest_bytes = 0;
  if (bytes <= used.rest_bytes) return {used.next, used.rest_bytes - bytes};
  const std::size_t missing = bytes - used.rest_bytes;
  const std::size_t more = (missing + Trace::kOpportunityBytes - 1) / Trace::kOpportunityBytes;
  const std::uint64_t first = std::max(used.next, trace_->first_after(ready - trace_begin_));
  return {first + more, more * Trace::kOpportunityBytes - missing};
}

}  // namespace udtcat::wan
