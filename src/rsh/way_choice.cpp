// SPDX-License-Identifier: Apache-2.0
#include "rsh/way_choice.hpp"

#include <utility>

namespace udtcat::rsh {

namespace {

BitRate rate_between(const WayChoice::Sample& from, const WayChoice::Sample& to) {
  return BitRate::from_bytes_per(to.bytes_taken - from.bytes_taken, to.at - from.at);
}

bool is_faster(BitRate rate, BitRate than) {
  constexpr double kGain = 1.2;  // guess: less is chance
  return static_cast<double>(rate.bits_per_second()) > kGain * static_cast<double>(than.bits_per_second());
}

}  // namespace

WayChoice::Move WayChoice::next(const Sample& sample) {
  if (!way_began_ || last_.on_ssh != sample.on_ssh) on_way(sample);
  last_ = sample;
  return sample.on_ssh ? on_ssh(sample) : on_udp(sample);
}

void WayChoice::on_way(const Sample& sample) {
  way_began_ = way_began_ ? last_ : sample;
  window_began_ = sample;
  asked_at_.reset();
  slow_windows_ = 0;
}

WayChoice::Move WayChoice::ask(const Sample& sample, Move move) {
  if (asked_at_ && sample.at - *asked_at_ < kPatience) return Move::none;
  asked_at_ = sample.at;
  return move;
}

WayChoice::Move WayChoice::on_udp(const Sample& sample) {
  if (!sample.answers) {
    window_began_ = sample;
    slow_windows_ = 0;
    return ask(sample, Move::to_ssh);
  }
  // It has come back before ssh has answered.
  if (asked_at_ && !compares_) {
    asked_at_.reset();
    return Move::to_udp;
  }
  if (slow_rate_ || sample.at - window_began_->at < kWindow) return Move::none;
  look_at_window(sample);
  if (slow_windows_ < kWindows) return Move::none;
  slow_rate_ = rate_between(*slow_began_, sample);
  compares_ = true;
  return ask(sample, Move::to_ssh);
}

void WayChoice::look_at_window(const Sample& sample) {
  const Sample before = *std::exchange(window_began_, sample);
  const auto sent = static_cast<double>(sample.packets_sent - before.packets_sent);
  const auto lost = static_cast<double>(sample.packets_lost - before.packets_lost);
  const bool is_slow = rate_between(before, sample).bits_per_second() < kSlow.bits_per_second();
  // A report waits for the data before it, so that a slow path shows at the receiving end, too.
  const bool is_late = sample.has_unreported && sample.reported == before.reported;
  // Of a command that has little to say the rate says nothing of the path.
  const bool by_path = (sample.held_by_path - before.held_by_path) * 5 >= (sample.at - before.at) * 2;
  const bool is_lossy = by_path && sent >= kEnoughPackets && lost > kLossy * sent && !sample.loses_by_chance;
  // An outage is no rate; but a slow path loses the peer's reports, too.
  const auto taken = static_cast<double>(sample.bytes_taken - before.bytes_taken);
  const auto late = static_cast<double>(sample.packets_late - before.packets_late);
  const bool is_silent = taken == 0 && sent - lost < kFewPackets && late == 0;
  // At the receiving end packets that were sent again are late.
  const bool is_repaired = late >= kManyLate && late * kPacketBytes >= kRepaired * taken && !sample.loses_by_chance;
  if (!is_slow || is_silent || (!is_lossy && !is_late && !is_repaired)) {
    slow_windows_ = 0;
    return;
  }
  if (slow_windows_++ == 0) slow_began_ = before;
}

WayChoice::Move WayChoice::on_ssh(const Sample& sample) {
  if (!sample.answers) return ask(sample, Move::to_udp);
  const Duration elapsed = sample.at - way_began_->at;
  if (compares_ && elapsed >= kTrial) {
    compares_ = false;  // the trial is over
    if (!ssh_is_faster()) return ask(sample, Move::to_udp);
  }
  if (elapsed < kReturnAfter || returns_ >= (slow_rate_ ? 1 : kReturns)) return Move::none;
  ++returns_;
  slow_rate_.reset();  // judged anew
  way_began_ = sample;
  return Move::to_udp;
}

/// Before the trial is over less is believed: what UDP had brought before may have been reported since.
bool WayChoice::ssh_is_faster() const {
  constexpr std::chrono::seconds kReportedLate{2};
  constexpr auto kLeastRate = BitRate::from_bits_per_second(1'000'000);  // guess: less is known of no path
  if (slow_rate_ && compares_ && last_.on_ssh) {
    const BitRate slow = slow_rate_->bits_per_second() > kLeastRate.bits_per_second() ? *slow_rate_ : kLeastRate;
    const Duration time = last_.at - way_began_->at + kReportedLate;
    return is_faster(BitRate::from_bytes_per(last_.bytes_taken - way_began_->bytes_taken, time), slow);
  }
  return slow_rate_ && last_.on_ssh && is_faster(rate_between(*way_began_, last_), *slow_rate_);
}

}  // namespace udtcat::rsh
