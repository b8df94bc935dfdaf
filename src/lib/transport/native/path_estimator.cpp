// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/path_estimator.hpp"

#include "lib/transport/native/congestion/measures.hpp"

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

constexpr Duration kMaxQueue = 500ms;       // guess: an answer that takes longer than this and four round trips is none
constexpr Duration kUnknownAnswer = 1s;     // spec: RFC 6298 §2.1
constexpr Duration kMostWireTime = 2s;      // guess: of one packet, where more is slower than any modem
constexpr Duration kOldestEcho = 60s;       // guess: older echoes are nonsense
constexpr Duration kLeastQueue = 5ms;       // spec: stream.md §7. guess: trains and hosts make less
constexpr int kQueuePart = 4;               // spec: stream.md §7. guess: of the least round trip: more is a queue
constexpr std::size_t kOverheadBytes = 48;  // spec: udt4.md §1: 44 of headers, and one word of a small packet

}  // namespace

bool PathEstimator::on_small_rtt(TimePoint now, const SmallRtt& rtt) {
  if (rtt_.measured() || !has_carried(now - rtt.value)) return false;
  rtt_.on_sample(rtt.value);
  largest_answered_bytes_ = std::max(rtt.bytes / 2, kOverheadBytes) - kOverheadBytes;
  return true;
}

void PathEstimator::on_report(TimePoint now, std::uint32_t now_us, const ExtendedReport& report) {
  const Duration age = std::chrono::microseconds(now_us - report.echo_us - report.delay_us);
  if (age >= kOldestEcho || !has_carried(now - age)) return;
  rtt_.on_sample(age);
  if (report.arrived_us) reverse_delay_.on_ack(now, report.echo_us, *report.arrived_us, age, *rtt_.minimum());
}

void PathEstimator::on_rate(const RateSample& sample) {
  if (sample.app_limited && best_rate_ == BitRate()) return;
  best_rate_ = std::max(best_rate_, BitRate::from_bytes_per(sample.delivered_bytes, sample.interval));
}

bool PathEstimator::rtt_shows_queue() const {
  const auto least = rtt_.minimum();
  return least && rtt_.smoothed() - *least > std::max<Duration>(kLeastQueue, *least / kQueuePart);
}

std::uint64_t PathEstimator::arrived_unheard_bytes(BitRate path_rate) const {
  const Duration delay = reverse_delay_.value();
  return delay == Duration::zero() ? 0 : bytes_during(shown_rate(path_rate), delay);
}

/// A packet that is larger than any that was answered takes longer on the wire than they did.
Duration PathEstimator::answer_time(BitRate path_rate, std::size_t payload_bytes, std::size_t newest_bytes) const {
  if (!rtt_.measured()) return kUnknownAnswer;
  const Duration queued = 4 * *rtt_.minimum() + kMaxQueue + wire_time(path_rate, payload_bytes);
  const std::size_t more_bytes = newest_bytes - std::min(newest_bytes, largest_answered_bytes_);
  return std::min<Duration>(rtt_.timeout(), queued) + share_of_rtt(more_bytes);
}

Duration PathEstimator::wire_time(BitRate path_rate, std::size_t bytes) const {
  const std::uint64_t rate = shown_rate(path_rate).bytes_per_second();
  if (rate == 0) return Duration::zero();
  return std::min<Duration>(duration_of(static_cast<double>(bytes) / static_cast<double>(rate)), kMostWireTime);
}

Duration PathEstimator::most_wire_time(BitRate path_rate, std::size_t bytes) const {
  const bool is_shown = shown_rate(path_rate).bytes_per_second() > 0;
  const Duration shown = is_shown ? wire_time(path_rate, bytes) : kMostWireTime;
  return rtt_.measured() ? std::min(shown, share_of_rtt(bytes)) : shown;
}

/// The time on the wire if the least round trip consisted of nothing else.
Duration PathEstimator::share_of_rtt(std::size_t bytes) const {
  const double share = static_cast<double>(bytes) / static_cast<double>(2 * (largest_answered_bytes_ + kOverheadBytes));
  return std::min<Duration>(duration_of(seconds_of(*rtt_.minimum()) * share), kMostWireTime);
}

}  // namespace udtcat::transport::native
