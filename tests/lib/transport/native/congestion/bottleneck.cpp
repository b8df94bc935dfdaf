// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/congestion/bottleneck.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "lib/transport/native/congestion/measures.hpp"

namespace udtcat::transport::native::test {

namespace {

using std::chrono_literals::operator""ms;

constexpr std::uint64_t kTrainBytes = 64 * kKiB;
constexpr Duration kTrainTime = std::chrono::microseconds(500);
constexpr Duration kLeastTimeout = 300ms;
constexpr Duration kMaxTimeout = 2'000ms;

Duration time_for(std::uint64_t bytes, BitRate rate) {
  return duration_of(static_cast<double>(bytes) / static_cast<double>(rate.bytes_per_second()));
}

}  // namespace

Flow::Flow(Bottleneck& path, std::size_t index, std::unique_ptr<CongestionControl> control, TimePoint start)
    : path_(path),
      index_(index),
      control_(std::move(control)),
      unsent_bytes_(std::numeric_limits<std::uint64_t>::max()),
      delivered_time_(start),
      first_sent_(start),
      next_send_(start),
      last_heard_(start) {}

bool Flow::window_open() const { return in_flight_bytes_ + path_.path().packet_bytes <= control_->window_bytes(); }

// A train at a time: what leaves in half a millisecond, at most 64 KiB.
void Flow::send() {
  send_armed_ = false;
  const auto packet_bytes = path_.path().packet_bytes;
  if (path_.now() < next_send_) {
    send_armed_ = true;
    return path_.schedule(next_send_, Bottleneck::What::send, index_);
  }
  const auto rate = control_->pacing_rate();
  const auto train =
      rate.unlimited() ? kTrainBytes : std::clamp(bytes_during(rate, kTrainTime), packet_bytes, kTrainBytes);
  std::uint64_t sent = 0;
  while (sent + packet_bytes <= train && window_open() && unsent_bytes_ >= packet_bytes) {
    send_packet();
    sent += packet_bytes;
  }
  if (unsent_bytes_ < packet_bytes) app_limited_until_bytes_ = delivered_bytes_ + in_flight_bytes_;
  if (sent == 0) return;
  if (!rate.unlimited()) next_send_ = std::max(next_send_, path_.now() - 1ms) + time_for(sent, rate);
  send_armed_ = true;
  path_.schedule(std::max(next_send_, path_.now()), Bottleneck::What::send, index_);
}

void Flow::send_packet() {
  const auto bytes = path_.path().packet_bytes;
  if (in_flight_bytes_ == 0) first_sent_ = delivered_time_ = path_.now();
  control_->on_sent(path_.now(), bytes, in_flight_bytes_);
  in_flight_bytes_ += bytes;
  if (unsent_bytes_ != std::numeric_limits<std::uint64_t>::max()) unsent_bytes_ -= bytes;
  sent_.push_back({.sent = path_.now(),
                   .first_sent = first_sent_,
                   .delivered_time = delivered_time_,
                   .delivered_bytes = delivered_bytes_,
                   .lost_bytes = lost_bytes_,
                   .in_flight_bytes = in_flight_bytes_,
                   .app_limited = app_limited_until_bytes_ > delivered_bytes_});
  path_.transmit(index_, next_number_++);
  if (sent_.size() == 1) last_heard_ = path_.now();
  arm_timeout();
}

void Flow::arm_timeout() {
  if (timeout_at_ > path_.now()) return;
  const auto wait =
      std::min(std::max(kLeastTimeout, path_.path().rtt * 4) * (1U << std::min(timeouts_, 4U)), kMaxTimeout);
  timeout_at_ = path_.now() + wait;
  path_.schedule(timeout_at_, Bottleneck::What::timeout, index_);
}

void Flow::arrive(std::uint64_t number) {
  if (number > expected_)
    path_.schedule(path_.now() + path_.path().rtt / 2, Bottleneck::What::nak, index_, expected_, number);
  expected_ = number + 1;
  batch_.push_back(number);
  if (batch_.size() >= path_.path().ack_packets) return flush_ack();
  if (ack_armed_) return;
  ack_armed_ = true;
  path_.schedule(path_.now() + path_.path().ack_interval, Bottleneck::What::flush, index_);
}

void Flow::flush_ack() {
  if (!batch_.empty()) path_.carry_ack(index_, std::exchange(batch_, {}));
}

SentPacket* Flow::packet(std::uint64_t number) {
  if (number < first_number_ || sent_[number - first_number_].gone) return nullptr;
  return &sent_[number - first_number_];
}

RateSample Flow::sample_of(const SentPacket& newest) const {
  return {.delivered_bytes = delivered_bytes_ - newest.delivered_bytes,
          .interval = std::max(newest.sent - newest.first_sent, delivered_time_ - newest.delivered_time),
          .prior_delivered_bytes = newest.delivered_bytes,
          .in_flight_at_send_bytes = newest.in_flight_bytes,
          .lost_bytes = lost_bytes_ - newest.lost_bytes,
          .app_limited = newest.app_limited};
}

void Flow::on_ack(const std::vector<std::uint64_t>& numbers) {
  std::uint64_t newly = 0;
  std::optional<SentPacket> newest;
  for (const auto number : numbers) {
    auto* const sent = packet(number);
    if (sent == nullptr) continue;
    sent->gone = true;
    newly += path_.path().packet_bytes;
    newest = *sent;
  }
  last_heard_ = path_.now();
  timeouts_ = 0;
  while (!sent_.empty() && sent_.front().gone) {
    sent_.pop_front();
    ++first_number_;
  }
  if (newest) {
    delivered_bytes_ += newly;
    in_flight_bytes_ -= newly;
    delivered_time_ = path_.now();
    first_sent_ = newest->sent;
    control_->on_ack({.now = path_.now(),
                      .newly_delivered_bytes = newly,
                      .delivered_total_bytes = delivered_bytes_,
                      .in_flight_bytes = in_flight_bytes_,
                      .rtt = path_.now() - newest->sent,
                      .rate = sample_of(*newest),
                      .newest_sent_at = newest->sent,
                      .app_limited = unsent_bytes_ < path_.path().packet_bytes,
                      .peer_rate_packets = {},
                      .peer_capacity_packets = {}});
  }
  if (!send_armed_) send();
}

void Flow::on_nak(std::uint64_t first, std::uint64_t end) {
  LossEvent event{.now = path_.now(), .new_epoch = false};
  for (auto number = first; number < end; ++number) {
    auto* const sent = packet(number);
    if (sent == nullptr) continue;
    sent->gone = true;
    event.lost_bytes += path_.path().packet_bytes;
    event.new_epoch = event.new_epoch || number >= epoch_end_;
  }
  if (event.lost_bytes == 0) return;
  if (event.new_epoch) epoch_end_ = next_number_;
  lost_bytes_ += event.lost_bytes;
  in_flight_bytes_ -= event.lost_bytes;
  // Lost data must be sent once more, as new packets of this simulation.
  if (unsent_bytes_ != std::numeric_limits<std::uint64_t>::max()) unsent_bytes_ += event.lost_bytes;
  control_->on_loss(event);
  if (!send_armed_) send();
}

void Flow::on_silence() {
  if (in_flight_bytes_ == 0) return;
  if (path_.now() < last_heard_ + std::max(kLeastTimeout, path_.path().rtt * 4)) return arm_timeout();
  ++timeouts_;
  if (unsent_bytes_ != std::numeric_limits<std::uint64_t>::max()) unsent_bytes_ += in_flight_bytes_;
  first_number_ += sent_.size();
  sent_.clear();
  lost_bytes_ += in_flight_bytes_;
  in_flight_bytes_ = 0;
  control_->on_timeout(path_.now());
  next_send_ = path_.now();
  if (!send_armed_) send();
}

Bottleneck::Bottleneck(const Path& path, std::uint32_t seed) : path_(path), random_(seed) {}

Flow& Bottleneck::add(CongestionKind kind, TimePoint start, BitRate rate) {
  const CongestionSettings settings{.kind = kind, .cap = rate, .random_seed = static_cast<std::uint32_t>(random_())};
  return add(make_congestion_control(settings, path_.packet_bytes, start), start);
}

Flow& Bottleneck::add(std::unique_ptr<CongestionControl> control, TimePoint start) {
  flows_.push_back(std::make_unique<Flow>(*this, flows_.size(), std::move(control), start));
  flows_.back()->send_armed_ = true;
  schedule(start, What::send, flows_.size() - 1);
  return *flows_.back();
}

void Bottleneck::run_until(Duration end) {
  const auto stop = TimePoint{} + end;
  while (!events_.empty() && events_.top().at <= stop) {
    const auto event = events_.top();
    events_.pop();
    now_ = event.at;
    handle(event);
  }
  now_ = stop;
}

void Bottleneck::handle(const Event& event) {
  auto& flow = *flows_[event.flow];
  switch (event.what) {
    case What::send:
      return flow.send();
    case What::arrive:
      return flow.arrive(event.number);
    case What::flush:
      flow.ack_armed_ = false;
      return flow.flush_ack();
    case What::nak:
      return cut_ ? void() : flow.on_nak(event.number, event.end);
    case What::timeout:
      return flow.on_silence();
    case What::ack: {
      free_acks_.push_back(event.number);
      if (!cut_) flow.on_ack(acks_[event.number]);
    }
  }
}

void Bottleneck::schedule(TimePoint at, What what, std::size_t flow, std::uint64_t number, std::uint64_t end) {
  events_.push({at, order_++, what, static_cast<std::uint32_t>(flow), number, end});
}

void Bottleneck::transmit(std::size_t flow, std::uint64_t number) {
  if (cut_ || queued_bytes() + path_.packet_bytes > path_.buffer_bytes) return;
  free_at_ = std::max(free_at_, now_) + time_for(path_.packet_bytes, path_.rate);
  if (std::uniform_real_distribution<double>{0, 1}(random_) < path_.loss) return;
  schedule(free_at_ + path_.rtt / 2, What::arrive, flow, number);
}

void Bottleneck::carry_ack(std::size_t flow, std::vector<std::uint64_t> numbers) {
  const double jitter = std::uniform_real_distribution<double>{0, 1}(random_)*seconds_of(path_.ack_jitter);
  // In order: what is late delays all that follows.
  last_ack_at_ = std::max(last_ack_at_, now_ + path_.rtt / 2 + duration_of(jitter));
  if (free_acks_.empty()) {
    free_acks_.push_back(acks_.size());
    acks_.emplace_back();
  }
  const auto slot = free_acks_.back();
  free_acks_.pop_back();
  acks_[slot] = std::move(numbers);
  schedule(last_ack_at_, What::ack, flow, slot);
}

std::uint64_t Bottleneck::queued_bytes() const {
  return free_at_ > now_ ? bytes_during(path_.rate, free_at_ - now_) : 0;
}

std::uint64_t Bottleneck::bdp_bytes() const { return bytes_during(path_.rate, path_.rtt); }

double share(const Path& path, std::uint64_t bytes, Duration time) {
  return static_cast<double>(bytes) / static_cast<double>(bytes_during(path.rate, time));
}

double jain(double one, double other) { return (one + other) * (one + other) / (2 * (one * one + other * other)); }

}  // namespace udtcat::transport::native::test
