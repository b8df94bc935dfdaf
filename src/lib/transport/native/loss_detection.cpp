// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/loss_detection.hpp"

#include <algorithm>

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kNakBudgetPerPacket = 4;  // guess: an honest peer asks for each once or twice a round trip
constexpr std::size_t kLeastNakBudget = 1024;   // guess
constexpr int kReorderingPart = 2;              // guess: of the round trip; RFC 8985 has a quarter, and more if need be
constexpr Duration kLossMemory = 10s;           // guess: a path that loses at random loses again by then

}  // namespace

std::optional<SentPacket> LossDetection::behind_new_gap(std::span<const SequenceRange> list) const {
  if (peer_.reports_bytes || list.empty()) return std::nullopt;
  const auto last = sequences_.index_of(list.back().last, packets_.end_index());
  if (!last || inference_.nak_covers(*last) || !packets_.contains(*last + 1)) return std::nullopt;
  const SentPacket& behind = packets_[*last + 1];
  return behind.sends == 1 && behind.sent_at > timed_out_at_ ? std::optional(behind) : std::nullopt;
}

LossDetection::Lost LossDetection::on_nak(TimePoint now, std::span<const SequenceRange> list, const RttEstimator& rtt) {
  if (now - nak_budget_since_ > std::max<Duration>(rtt.smoothed(), kSyn)) {
    nak_budget_since_ = now;
    nak_budget_packets_ = kNakBudgetPerPacket * packets_.size() + kLeastNakBudget;
  }
  Lost lost;
  PacketIndex from = packets_.begin_index();
  for (const auto& [first_sequence, last_sequence] : list) {
    const auto first = sequences_.index_of(first_sequence, packets_.end_index());
    const auto last = sequences_.index_of(last_sequence, packets_.end_index());
    if (!last || *last >= packets_.end_index() || first.value_or(0) > *last) continue;
    const PacketIndex begin = std::max(first.value_or(0), from);
    if (begin <= *last && *last - begin >= nak_budget_packets_) break;
    const std::uint64_t lost_before = lost.event.lost_bytes;
    for (PacketIndex index = begin; index <= *last; ++index, --nak_budget_packets_) mark_lost(now, index, rtt, lost);
    if (lost.event.lost_bytes > lost_before) ++lost.event.runs;
    from = std::max(from, *last + 1);
    if (!peer_.reports_bytes) inference_.presume_delivered(packets_, *last + 1);
  }
  return lost;
}

bool LossDetection::mark_lost_again(TimePoint now, const RttEstimator& rtt, Lost& lost) {
  if (peer_.reports_bytes) return false;
  if (acked_resent_) inference_.presume_nak_lost(packets_, now, rtt.timeout());
  const auto mark = [&](PacketIndex index) { mark_lost(now, index, rtt, lost); };
  if (!inference_.mark_lost_again(packets_, now, rtt.timeout(), mark)) return false;
  expire_unanswered(now, rtt);
  return true;
}

TimePoint LossDetection::expire_unanswered(TimePoint now, const RttEstimator& rtt) {
  return peer_.reports_bytes ? TimePoint::max() : LossInference::expire_unanswered(packets_, now, rtt.timeout());
}

void LossDetection::mark_overtaken(PacketIndex highest, TimePoint latest_sent_at, TimePoint now,
                                   const RttEstimator& rtt, Lost& lost) {
  latest_sent_at_ = std::max(latest_sent_at_, latest_sent_at);
  const TimePoint overtaken_before = latest_sent_at_ - rtt.smoothed() / kReorderingPart;
  const auto overtaken = [&](const SentPacket& packet) { return packet.sent_at < overtaken_before; };
  PacketIndex index = std::max({highest + 1, overtaken_end_, packets_.begin_index()});
  const std::uint64_t lost_before = lost.event.lost_bytes;
  resent_.take_before(packets_, overtaken_before, [&](PacketIndex resent) {
    if (resent > highest) mark_lost(now, resent, rtt, lost);
  });
  for (; index < packets_.end_index() && overtaken(packets_[index]); ++index) mark_lost(now, index, rtt, lost);
  if (!packets_.empty() && packets_.oldest().sends > 1 && overtaken(packets_.oldest()))
    mark_lost(now, packets_.begin_index(), rtt, lost);
  if (lost.event.lost_bytes > lost_before) ++lost.event.runs;
  overtaken_end_ = index;
}

void LossDetection::mark_probes(TimePoint now, const RttEstimator& rtt, Lost& lost) {
  expire_unanswered(now, rtt);
  mark_lost(now, packets_.begin_index(), rtt, lost);
  const PacketIndex newest = packets_.end_index() - 1;
  if (!oldest_is_missing() && may_be_missed(now, packets_[newest], rtt)) mark_lost(now, newest, rtt, lost);
}

/// Whether an answer to the packet could be here: a NAK that comes sooner is older than the packet's last copy. Our own
/// peers repeat a NAK soon, though the packet may have waited here first, or waits in the path's queue: it is missed
/// where a packet that left later has arrived, or a usual round trip is over.
bool LossDetection::may_be_missed(TimePoint now, const SentPacket& packet, const RttEstimator& rtt) const {
  const Duration age = now - packet.sent_at;
  if (age < rtt.minimum().value_or(Duration::zero())) return false;
  return !peer_.reports_bytes || !rtt.measured() || packet.sent_at < latest_sent_at_ || age >= rtt.smoothed();
}

void LossDetection::mark_lost(TimePoint now, PacketIndex index, const RttEstimator& rtt, Lost& lost) {
  const SentPacket& packet = packets_[index];
  if (packet.lost || (packet.sends > 1 && !may_be_missed(now, packet, rtt))) return;
  packets_.mark_lost(index);
  lost.packets.push_back(index);
  if (packet.sent_at <= timed_out_at_) return;
  lost.event.lost_bytes += packet.bytes;
  lost.event.new_epoch = lost.event.new_epoch || packet.sent_at > epoch_at_;
}

LossEvent LossDetection::event_of(TimePoint now, const Lost& lost) {
  if (lost.event.new_epoch) epoch_at_ = now;
  LossEvent event = lost.event;
  event.now = now;
  return event;
}

bool LossDetection::has_lost_lately(TimePoint now) const {
  return epoch_at_ != TimePoint{} && now - epoch_at_ < kLossMemory;
}

}  // namespace udtcat::transport::native
