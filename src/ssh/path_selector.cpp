// SPDX-License-Identifier: Apache-2.0
#include "ssh/path_selector.hpp"

#include <algorithm>
#include <utility>

namespace udtcat::ssh {

namespace {

BitRate rate_between(const PathSelector::Sample& from, const PathSelector::Sample& to) {
  return BitRate::from_bytes_per(to.bytes_carried - from.bytes_carried, to.at - from.at);
}

bool is_faster(BitRate rate, BitRate than) {
  constexpr double kGain = 1.2;  // guess: less is chance
  return static_cast<double>(rate.bits_per_second()) > kGain * static_cast<double>(than.bits_per_second());
}

}  // namespace

PathSelector::Decision PathSelector::next(const Sample& sample) {
  if (!path_began_ || last_.on_ssh != sample.on_ssh) on_path_change(sample);
  last_ = sample;
  return sample.on_ssh ? on_ssh(sample) : on_udp(sample);
}

void PathSelector::on_path_change(const Sample& sample) {
  const bool ssh_was_silent = path_began_ && !sample.on_ssh && (compares_ || ssh_is_faster());
  if (ssh_was_silent && ++silences_ <= kReturns) {
    slow_rate_.reset();
    compares_ = false;
  }
  path_began_ = path_began_ ? last_ : sample;
  begin_window(sample.on_ssh ? *path_began_ : sample);
  best_on_ssh_ = {};
  asked_at_.reset();
}

PathSelector::Decision PathSelector::ask(const Sample& sample, Decision decision) {
  if (asked_at_ && sample.at - *asked_at_ < kTimeout) return Decision::none;
  asked_at_ = sample.at;
  return decision;
}

PathSelector::Decision PathSelector::on_udp(const Sample& sample) {
  if (!sample.answers) {
    begin_window(sample);
    return ask(sample, Decision::to_ssh);
  }
  // UDP answers again before ssh has answered.
  if (asked_at_ && !compares_) {
    asked_at_.reset();
    return Decision::to_udp;
  }
  if (slow_rate_ && reconsider(sample)) begin_window(sample);
  if (slow_rate_ || sample.at - half_window_began_->at < kHalfWindow) return Decision::none;
  const Sample half = *std::exchange(half_window_began_, sample);
  // The time of an outage is not counted in a rate.
  if (sample.bytes_carried == half.bytes_carried) {
    begin_window(sample);
    return Decision::none;
  }
  const Sample before = *std::exchange(window_began_, half);
  if (sample.at - before.at < 2 * kHalfWindow || !is_slow(before, sample)) return Decision::none;
  // The better second counts, as in measure_ssh(). A rate that still grows is not judged.
  const BitRate first = rate_between(before, half);
  const BitRate second = rate_between(half, sample);
  if (is_faster(second, first)) return Decision::none;
  slow_rate_ = first.bits_per_second() > second.bits_per_second() ? first : second;
  compares_ = true;
  return ask(sample, Decision::to_ssh);
}

void PathSelector::begin_window(const Sample& sample) { window_began_ = half_window_began_ = sample; }

bool PathSelector::is_slow(const Sample& before, const Sample& sample) {
  const BitRate rate = rate_between(before, sample);
  if (rate.bits_per_second() >= kSlow.bits_per_second() || sample.loses_by_chance) return false;
  const auto carried = static_cast<double>(sample.bytes_carried - before.bytes_carried);
  // A report waits behind data: that none has come while data did shows a slow path at the receiving end.
  const auto arrived = static_cast<double>(sample.bytes_arrived - before.bytes_arrived);
  if (sample.reported == before.reported && arrived > kFewPackets * kPacketBytes) return true;
  // The receiving end sees retransmissions as late packets.
  const auto late = static_cast<double>(sample.packets_late - before.packets_late);
  if (late >= kManyLate && late * kPacketBytes >= kRepaired * carried) return true;
  // A sender that had little to send says nothing about the path.
  if ((sample.held_by_path - before.held_by_path) * 5 < (sample.at - before.at) * 2) return false;
  if (rate.bits_per_second() < kVerySlow.bits_per_second()) return true;
  const auto sent = static_cast<double>(sample.packets_sent - before.packets_sent);
  const auto lost = static_cast<double>(sample.packets_lost - before.packets_lost);
  return sent >= kEnoughPackets && lost > kLossy * sent;
}

PathSelector::Decision PathSelector::on_ssh(const Sample& sample) {
  measure_ssh(sample);
  if (!sample.answers && sample.at - path_began_->at >= kSilence) return ask(sample, Decision::to_udp);
  if (compares_ && sample.at - path_began_->at >= kTrial) {
    compares_ = false;  // the trial is over
    if (!ssh_is_faster()) return ask(sample, Decision::to_udp);
  }
  return reconsider(sample) ? Decision::to_udp : Decision::none;
}

bool PathSelector::reconsider(const Sample& sample) {
  if (sample.at - path_began_->at < kReturnAfter || returns_ >= (slow_rate_ ? 1 : kReturns)) return false;
  ++returns_;
  slow_rate_.reset();
  path_began_ = sample;
  return true;
}

/// Keeps the best second: in the others there may have been nothing to send. A shorter time counts as a second.
void PathSelector::measure_ssh(const Sample& sample) {
  const Duration elapsed = std::max<Duration>(sample.at - half_window_began_->at, kHalfWindow);
  const auto rate = BitRate::from_bytes_per(sample.bytes_carried - half_window_began_->bytes_carried, elapsed);
  if (rate.bits_per_second() > best_on_ssh_.bits_per_second()) best_on_ssh_ = rate;
  if (sample.at - half_window_began_->at >= kHalfWindow) half_window_began_ = sample;
}

bool PathSelector::ssh_is_faster() const { return slow_rate_ && last_.on_ssh && is_faster(best_on_ssh_, *slow_rate_); }

}  // namespace udtcat::ssh
