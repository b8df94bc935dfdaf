// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/train_probe.hpp"

#include <algorithm>
#include <utility>

namespace udtcat::transport::native {

void TrainProbe::on_sent(PacketIndex first, std::size_t packets) {
  if (off() || packets < 2) return;
  const bool comparing = state_ == State::comparing;
  if (trains_.size() < kMaxWatched)
    trains_.push_back({first, packets, comparing && next_singly_, comparing ? pair_ : 0});
  if (comparing) next_of_pair();
}

/// The order within a pair is random: a path that drops every other train must not look like a driver that drops
/// trains.
void TrainProbe::next_of_pair() {
  if (std::exchange(first_of_pair_, !first_of_pair_)) {
    next_singly_ = !next_singly_;
    return;
  }
  ++pair_;
  next_singly_ = draw();
}

bool TrainProbe::draw() {
  random_ ^= random_ << 13U;  // source: Marsaglia, Xorshift RNGs
  random_ ^= random_ >> 17U;
  random_ ^= random_ << 5U;
  return (random_ & 0x100U) != 0;
}

void TrainProbe::compare() {
  state_ = State::comparing;
  patience_ = kPatience;
  ++pair_;
  first_of_pair_ = true;
  next_singly_ = draw();
  half_.reset();
}

void TrainProbe::on_lost(PacketIndex index) {
  if (off()) return;
  const auto behind = std::ranges::upper_bound(trains_, index, {}, &Train::first);
  if (behind == trains_.begin()) return;
  Train& train = *std::prev(behind);
  if (index >= train.first + train.packets) return;
  ++train.lost;
  if (state_ == State::comparing || train.singly || !train.is_lost()) return;
  if (lost_in_a_row(std::prev(behind)) >= kSuspicious) compare();
}

/// How many trains up to `last` are lost in a row: one that is not lost ends the row if it is at least as long.
int TrainProbe::lost_in_a_row(std::deque<Train>::const_iterator last) const {
  const std::size_t packets = last->packets;
  int lost = 1;
  while (last != trains_.begin()) {
    --last;
    if (last->singly) continue;
    if (last->is_lost())
      ++lost;
    else if (last->packets >= packets)
      return lost;
  }
  return lost + earlier_lost_;
}

void TrainProbe::on_acknowledged(PacketIndex next) {
  while (!trains_.empty() && trains_.front().first + trains_.front().packets <= next) {
    decide(trains_.front());
    if (!trains_.empty()) trains_.pop_front();
  }
}

/// Bursts of single datagrams do not count.
void TrainProbe::count_in_row(const Train& train) {
  if (train.singly) return;
  if (train.is_lost()) {
    least_earlier_lost_ = earlier_lost_ == 0 ? train.packets : std::min(least_earlier_lost_, train.packets);
    earlier_lost_ = std::min(earlier_lost_ + 1, kSuspicious);
  } else if (train.packets >= least_earlier_lost_) {
    earlier_lost_ = 0;
    least_earlier_lost_ = 0;
  }
}

void TrainProbe::decide(const Train& train) {
  count_in_row(train);
  if (!train.singly && !train.is_lost() && train.packets >= least_packets_) run_ = 0;
  if (state_ != State::comparing || train.pair == 0) return;
  if (!half_ || half_->pair != train.pair) {
    half_ = train;
    return;
  }
  const Train other = *std::exchange(half_, std::nullopt);
  conclude_pair(train.singly ? other : train, train.singly ? train : other);
}

void TrainProbe::conclude_pair(const Train& train, const Train& burst) {
  const bool alike = burst.packets >= train.packets;
  if (alike && train.is_lost() && burst.has_arrived()) {
    least_packets_ = run_ == 0 ? train.packets : std::min(least_packets_, train.packets);
    patience_ = kPatience;
    if (++run_ == kPairs) state_ = State::off;
    return;
  }
  if (alike && train.is_lost()) run_ = 0;
  if (--patience_ == 0) state_ = State::trusting;
}

}  // namespace udtcat::transport::native
