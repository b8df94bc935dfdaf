// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/simulated_link.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace udtcat::transport::native {

namespace {

constexpr std::size_t kIpAndUdpBytes = 28;

bool happens(double probability, std::mt19937& random) {
  return probability > 0 && std::uniform_real_distribution<>(0, 1)(random) < probability;
}

}  // namespace

Duration SimulatedLink::time_of(std::uint64_t bytes) const {
  return Duration(static_cast<std::int64_t>(static_cast<double>(bytes) * 8e9 /
                                            static_cast<double>(settings.rate.bits_per_second())));
}

std::uint64_t SimulatedLink::waiting_bytes(TimePoint now) const {
  if (waiting_.empty()) return 0;
  const double gone = std::chrono::duration<double>(now - wire_free_).count() *
                      static_cast<double>(settings.rate.bits_per_second()) / 8;
  return waiting_bytes_ - std::min(static_cast<std::uint64_t>(std::max(gone, 0.0)), waiting_bytes_);
}

bool SimulatedLink::take(TimePoint now, Packet&& packet, std::mt19937& random) {
  const std::size_t bytes = packet.bytes.size() + kIpAndUdpBytes;
  if (bytes > settings.mtu) return false;
  ++counts_.taken;
  if (losing_ > 0 || happens(settings.loss, random)) {
    losing_ = losing_ > 0 ? losing_ - 1 : settings.loss_burst - 1;
    ++counts_.lost;
    return false;
  }
  advance(now);
  if (!conforms(now, bytes)) {
    ++counts_.policed;
    return false;
  }
  if (waiting_bytes(now) > settings.queue_bytes) {
    ++counts_.overflowed;
    return false;
  }
  if (waiting_.empty()) wire_free_ = std::max(wire_free_, now);
  const bool late = happens(settings.reorder, random);
  const bool twice = happens(settings.duplicate, random);
  waiting_bytes_ += bytes;
  // A duplicate takes no room in the queue: it arises behind the wire.
  std::optional<Packet> second;
  if (twice) second = packet;
  waiting_.push_back({std::move(packet), bytes, late});
  if (second) waiting_.push_back({std::move(*second), 0, late});
  return true;
}

void SimulatedLink::advance(TimePoint now) {
  while (!waiting_.empty()) {
    Waiting& first = waiting_.front();
    const TimePoint leaves = wire_free_ + time_of(first.ip_bytes);
    if (leaves > now) return;
    wire_free_ = leaves;
    waiting_bytes_ -= first.ip_bytes;
    TimePoint at = released(leaves) + settings.delay;
    if (first.late) {
      late_.push_back({at + settings.reorder_delay, next_number_++, std::move(first.packet)});
      std::push_heap(late_.begin(), late_.end(), later);
    } else {
      at = last_at_ = std::max(at, last_at_);
      flying_.push_back({at, next_number_++, std::move(first.packet)});
    }
    waiting_.pop_front();
  }
}

bool SimulatedLink::conforms(TimePoint now, std::size_t bytes) {
  const bool was_policing = std::exchange(policing_, settings.policer_rate != BitRate());
  if (!policing_) return true;
  const double gained = std::chrono::duration<double>(now - filled_at_).count() *
                        static_cast<double>(settings.policer_rate.bits_per_second()) / 8;
  const auto bucket = static_cast<double>(settings.policer_bytes);
  tokens_ = was_policing ? std::min(tokens_ + gained, bucket) : bucket;
  filled_at_ = now;
  if (tokens_ < static_cast<double>(bytes)) return false;
  tokens_ -= static_cast<double>(bytes);
  return true;
}

TimePoint SimulatedLink::released(TimePoint at) {
  if (settings.release_most == Duration::zero()) return at;
  // After long idle time whole intervals are skipped.
  if (at > gate_) gate_ += (at - gate_) / settings.release_most * settings.release_most;
  std::uniform_int_distribution<std::int64_t> until_next(settings.release_least.count(), settings.release_most.count());
  while (gate_ < at) gate_ += Duration(until_next(gate_random_));
  return gate_;
}

const SimulatedLink::Flying* SimulatedLink::first_flying() const {
  const bool late = !late_.empty() && (flying_.empty() || later(flying_.front(), late_.front()));
  return late ? &late_.front() : flying_.empty() ? nullptr : &flying_.front();
}

TimePoint SimulatedLink::next_at() const {
  const Flying* first = first_flying();
  return first ? first->at : TimePoint::max();
}

TimePoint SimulatedLink::due() const {
  const TimePoint next = next_at();
  if (waiting_.empty()) return next;
  return std::min(next, wire_free_ + time_of(waiting_.front().ip_bytes) + settings.delay);
}

bool SimulatedLink::next(TimePoint now, Packet& packet) {
  if (next_at() > now) return false;
  if (first_flying() == (late_.empty() ? nullptr : &late_.front())) {
    std::pop_heap(late_.begin(), late_.end(), later);
    packet = std::move(late_.back().packet);
    late_.pop_back();
  } else {
    packet = std::move(flying_.front().packet);
    flying_.pop_front();
  }
  return true;
}

}  // namespace udtcat::transport::native
