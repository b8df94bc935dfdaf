// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/rate_control.hpp"

#include <algorithm>
#include <utility>

namespace udtcat::transport::native {

namespace {

constexpr double kCapMargin = 0.95;  // guess: BBR keeps a hundredth below the rate that it finds, which is the cap then
constexpr std::size_t kTellingTrain = 4;  // guess: the halves of a shorter train tell little

}  // namespace

RateControl::RateControl(CongestionSettings settings, TimePoint now, std::size_t payload_bytes,
                         const std::optional<KnownPath>& known_path)
    : settings_(std::move(settings)) {
  restart(now, payload_bytes);
  if (!known_path) return;
  congestion_->resume(*known_path);
  update_pacing();
}

void RateControl::on_ack(const AckEvent& event) {
  congestion_->on_ack(event);
  update_pacing();
}

void RateControl::on_loss(LossEvent event) {
  event.of_long_trains = std::exchange(trains_shortened_, false);
  congestion_->on_loss(event);
  update_pacing();
}

void RateControl::on_timeout(TimePoint now) {
  congestion_->on_timeout(now);
  update_pacing();
  pacer_.forget_debt(now);
}

void RateControl::restart(TimePoint now, std::size_t payload_bytes) {
  congestion_ = make_congestion_control(settings_, payload_bytes, now);
  update_pacing();
}

void RateControl::on_new_path(TimePoint now, std::size_t payload_bytes) {
  train_length_ = TrainLength();
  settings_.group.reset();  // it is of flows to the host before
  restart(now, payload_bytes);
}

void RateControl::on_train_sent(TimePoint now) {
  train_length_.on_sent(now, Pacer::kSlowTrainTime);
  pacer_.limit_trains(train_length_.limit());
}

void RateControl::on_train_loss(TimePoint now, const SentPacket& lost, std::size_t payload_bytes) {
  if (lost.train_packets < kTellingTrain) return;
  const Duration train = pacer_.paced_time(lost.train_packets * payload_bytes);
  if (train == Duration::zero()) return;
  const bool is_in_second_half = 2 * lost.train_place >= lost.train_packets;
  if (train_length_.on_lost(now, lost.sent_at, train, is_in_second_half)) trains_shortened_ = true;
  pacer_.limit_trains(train_length_.limit());
}

bool RateControl::is_at_cap() const {
  if (settings_.cap.unlimited()) return false;
  const BitRate pace = congestion_->pacing_rate();
  const auto margin = static_cast<double>(settings_.cap.bits_per_second()) * kCapMargin;
  return pace.unlimited() || pace >= settings_.cap ||
         static_cast<double>(congestion_->path_rate().bits_per_second()) >= margin;
}

void RateControl::update_pacing() {
  BitRate rate = congestion_->pacing_rate();
  if (!settings_.cap.unlimited() && (rate.unlimited() || rate > settings_.cap)) rate = settings_.cap;
  pacer_.set_rate(rate.unlimited() ? 0 : std::max<std::uint64_t>(rate.bytes_per_second(), 1));
}

}  // namespace udtcat::transport::native
