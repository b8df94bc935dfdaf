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
  begin_window(sample);
  asked_at_.reset();
}

WayChoice::Move WayChoice::ask(const Sample& sample, Move move) {
  if (asked_at_ && sample.at - *asked_at_ < kPatience) return Move::none;
  asked_at_ = sample.at;
  return move;
}

WayChoice::Move WayChoice::on_udp(const Sample& sample) {
  if (!sample.answers) {
    begin_window(sample);
    return ask(sample, Move::to_ssh);
  }
  // It has come back before ssh has answered.
  if (asked_at_ && !compares_) {
    asked_at_.reset();
    return Move::to_udp;
  }
  if (slow_rate_ || sample.at - half_began_->at < kHalfWindow) return Move::none;
  const Sample half = *std::exchange(half_began_, sample);
  if (is_silent(half, sample)) {
    begin_window(sample);
    return Move::none;
  }
  const Sample before = *std::exchange(window_began_, half);
  if (sample.at - before.at < 2 * kHalfWindow || !is_slow(before, sample)) return Move::none;
  slow_rate_ = rate_between(before, sample);
  compares_ = true;
  return ask(sample, Move::to_ssh);
}

void WayChoice::begin_window(const Sample& sample) { window_began_ = half_began_ = sample; }

/// An outage is no rate; but a slow path loses the peer's reports, too. The receiving end sees whole blocks only, which
/// may take seconds.
bool WayChoice::is_silent(const Sample& before, const Sample& sample) {
  const auto arrived = static_cast<double>(sample.packets_sent - before.packets_sent) -
                       static_cast<double>(sample.packets_lost - before.packets_lost);
  return sample.sends && sample.bytes_taken == before.bytes_taken && sample.packets_late == before.packets_late &&
         arrived < kFewPackets;
}

bool WayChoice::is_slow(const Sample& before, const Sample& sample) {
  const BitRate rate = rate_between(before, sample);
  if (rate.bits_per_second() >= kSlow.bits_per_second() || sample.loses_by_chance) return false;
  // A report waits for the data before it, so that a slow path shows at the receiving end, too.
  if (sample.has_unreported && sample.reported == before.reported) return true;
  // At that end packets that were sent again are late.
  const auto late = static_cast<double>(sample.packets_late - before.packets_late);
  const auto taken = static_cast<double>(sample.bytes_taken - before.bytes_taken);
  if (late >= kManyLate && late * kPacketBytes >= kRepaired * taken) return true;
  // Of a command that has little to say the rate says nothing of the path.
  if ((sample.held_by_path - before.held_by_path) * 5 < (sample.at - before.at) * 2) return false;
  if (rate.bits_per_second() < kVerySlow.bits_per_second()) return true;
  const auto sent = static_cast<double>(sample.packets_sent - before.packets_sent);
  const auto lost = static_cast<double>(sample.packets_lost - before.packets_lost);
  return sent >= kEnoughPackets && lost > kLossy * sent;
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
