// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/udt_sender.hpp"

#include <algorithm>
#include <utility>

#include <udtcat/units.hpp>

#include "lib/transport/native/congestion/measures.hpp"

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

constexpr Duration kMaxQueue = 500ms;    // guess: an answer that takes longer than this and four round trips is none
constexpr Duration kUnknownAnswer = 1s;  // spec: RFC 6298 §2.1
constexpr Duration kMostWireTime = 2s;   // guess: of one packet, where more is slower than any modem
constexpr std::uint32_t kProbesUntilTimeout = 2;    // guess: one may be lost itself
constexpr std::uint32_t kProbesUntilBlackHole = 3;  // guess
constexpr std::uint16_t kSendsUntilBlackHole = 10;  // guess: at 10 % random loss one packet in 10^10
constexpr std::size_t kUrgentPackets = 2;           // guess: of what was lost again; they leave beyond the window
constexpr std::size_t kNakBudgetPerPacket = 4;      // guess: an honest peer asks for each once or twice a round trip
constexpr std::size_t kLeastNakBudget = 1024;       // guess
constexpr int kReorderingPart = 2;          // guess: of the round trip; RFC 8985 has a quarter, and more if need be
constexpr std::uint64_t kMuchPackets = 4;   // guess: a word, and the answers to others
constexpr Duration kLossMemory = 10s;       // guess: a path that loses at random loses again by then
constexpr std::size_t kOverheadBytes = 48;  // spec: udt4.md §1: 44 of headers, and one word of a small packet
constexpr Duration kOldestEcho = 60s;       // guess: older echoes are nonsense

std::uint64_t saturating_difference(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; }

}  // namespace

UdtSender::UdtSender(const Settings& settings)
    : settings_(settings),
      peer_(traits_of(settings.peer)),
      sequences_(settings.initial_sequence),
      clock_zero_(settings.first_words ? settings.first_words->clock_zero : settings.started),
      payload_bytes_(settings.payload_bytes),
      window_end_(std::min(settings.window_packets, kMaxWindowPackets)),
      congestion_(new_congestion_control(settings.started)),
      trial_(settings.known_path && settings.known_path->loses_trains, settings.random_seed) {
  if (settings.known_path) congestion_->resume(*settings.known_path);
  update_pacing();
  if (settings.first_rtt) note_small_rtt(settings.started, *settings.first_rtt);
  if (settings.first_words) add_first_words(*settings.first_words);
}

std::unique_ptr<CongestionControl> UdtSender::new_congestion_control(TimePoint now) const {
  return make_congestion_control(settings_.congestion, payload_bytes_, settings_.rate_cap, now, settings_.random_seed,
                                 peer_.ack_packets);
}

// ---- What the peer says -------------------------------------------------------------------------------------------

void UdtSender::on_ack(TimePoint now, const Acknowledgement& ack) {
  const auto next = sequences_.index_of(ack.next, packets_.end_index());
  if (!next || !plausible(*next, ack)) return;
  std::optional<SentPacket> newest;  // that is known to have arrived
  const auto highest = ack.extended ? sequences_.index_of(ack.extended->highest, packets_.end_index()) : std::nullopt;
  if (highest && packets_.contains(*highest))
    newest = packets_[*highest];
  else if (packets_.contains(*next - 1))
    newest = packets_[*next - 1];
  const bool trains_were_off = trial_.off();
  const bool progress =
      *next > packets_.begin_index() || (ack.extended && ack.extended->received_bytes > reported_delivered_bytes_);
  if (*next > packets_.begin_index() || !peer_has_room_for_oldest()) answered_at_ = now;
  take_windows(*next, ack);
  pop_acknowledged(*next);
  if (trial_.off() && !trains_were_off) congestion_ = new_congestion_control(now);  // what was lost was no sign of it
  const bool is_current = *next == packets_.begin_index();
  if (is_current && !ack.is_light()) kept_offset_ = acknowledged_offset();
  if (ack.extended) reported_delivered_bytes_ = std::max(reported_delivered_bytes_, ack.extended->received_bytes);
  if (is_current) {
    LossEvent event;
    mark_lost_again(now, event);
    if (ack.extended) mark_overtaken(now, highest.value_or(*next), ack.extended->echo_us, event);
    if (event.lost_bytes > 0) report(now, event);
  }
  if (!progress) return;
  probe_.on_progress();
  take_rtt(now, ack, newest);
  if (newest) largest_answered_bytes_ = std::max<std::size_t>(largest_answered_bytes_, newest->bytes);
  note_delivery(now, newest, ack, popped_repaired_ && !ack.extended);
  arm_probe(now);
}

bool UdtSender::plausible(PacketIndex next, const Acknowledgement& ack) const {
  if (next > packets_.end_index()) return false;
  return !ack.extended || ack.extended->received_bytes <= sent_offset_;
}

void UdtSender::take_windows(PacketIndex next, const Acknowledgement& ack) {
  if (ack.is_light() || next < window_point_) return;  // a light ACK moves no right edge; an old one knows less
  window_point_ = next;
  window_end_ = next + std::min(*ack.window_packets, kMaxWindowPackets);
  if (!ack.extended) return;
  const std::uint64_t offset = packets_.contains(next) ? packets_[next].offset : sent_offset_;
  window_end_offset_ = offset + std::uint64_t{ack.extended->free_kib} * kKiB;
}

/// A full libudt receiver still says that it has room for two.
bool UdtSender::peer_has_room_for_oldest() const {
  if (packets_.empty()) return false;
  const SentPacket& oldest = packets_[packets_.begin_index()];
  if (!peer_.reports_bytes) return window_end_ - window_point_ > kLeastWindow;
  return packets_.begin_index() < window_end_ && oldest.offset + oldest.bytes <= window_end_offset_;
}

std::optional<TimePoint> UdtSender::unanswered_since() const {
  if (packets_.empty() && kept_offset_ < sent_offset_) return answered_at_;  // a light ACK is no answer to the last
  return peer_has_room_for_oldest() ? std::optional(answered_at_) : std::nullopt;
}

void UdtSender::pop_acknowledged(PacketIndex next) {
  popped_repaired_ = false;
  while (!packets_.empty() && packets_.begin_index() < next) {
    SentPacket& packet = packets_[packets_.begin_index()];
    guess_.take_back(packet);
    if (packet.waits_for_repair) {
      repairs_.erase(packets_.begin_index());
      repair_bytes_ -= packet.bytes;
    }
    popped_repaired_ = popped_repaired_ || packet.sends > 1;
    acknowledged_bytes_ += packet.bytes;
    packets_.pop_front();
  }
  trial_.on_acknowledged(next);
  queue_.release_before(acknowledged_offset());
}

bool UdtSender::would_wait(TimePoint now) const {
  const bool much = queue_.end_offset() - acknowledged_offset() > kMuchPackets * payload_bytes_;
  return much || (loss_epoch_ != TimePoint{} && now - loss_epoch_ < kLossMemory);
}

std::uint64_t UdtSender::acknowledged_offset() const {
  return packets_.empty() ? sent_offset_ : packets_[packets_.begin_index()].offset;
}

void UdtSender::take_rtt(TimePoint now, const Acknowledgement& ack, const std::optional<SentPacket>& newest) {
  if (ack.extended) {
    const std::uint32_t age_us = timestamp_us(now) - ack.extended->echo_us - ack.extended->delay_us;
    const Duration sample = std::chrono::microseconds(age_us);
    if (sample >= kOldestEcho) return;
    rtt_.on_sample(sample);
    if (ack.extended->arrived_us)
      back_delay_.on_ack(now, ack.extended->echo_us, *ack.extended->arrived_us, sample, *rtt_.minimum());
    return;
  }
  // Behind a packet that had to be sent again the others waited: their time is that of the repair (Karn's rule, for all
  // of them).
  if (newest && newest->sends == 1 && !popped_repaired_) rtt_.on_sample(now - newest->sent_at);
}

/// had_waited   for a repair: the ACK is no rate at which things came
void UdtSender::note_delivery(TimePoint now, const std::optional<SentPacket>& newest, const Acknowledgement& ack,
                              bool had_waited) {
  const std::uint64_t before = delivery_.delivered_bytes();
  delivery_.on_delivered(now, delivered_bytes(), had_waited);
  AckEvent event;
  event.now = now;
  event.delivered_total_bytes = delivery_.delivered_bytes();
  event.newly_delivered_bytes = event.delivered_total_bytes - before;
  event.in_flight_bytes = saturating_difference(in_flight_bytes(), arrived_unheard_bytes());
  // A queue of ACKs is none of the data's.
  if (rtt_.measured()) event.rtt = std::max(rtt_.latest() - back_delay_.value(), *rtt_.minimum());
  event.least_rtt = rtt_.minimum();
  if (newest) {
    if (!had_waited) event.rate = delivery_.sample(now, *newest, lost_bytes_);
    if (newest->sends == 1) event.newest_sent_at = newest->sent_at;
    if (newest->bytes >= payload_bytes_) large_delivered_at_ = now;
  }
  if (const auto echoed = ack.extended ? echoes_.find(ack.extended->echo_us) : std::nullopt) {
    event.rate = delivery_.sample(now, echoed->sent_at, echoed->snapshot, lost_bytes_);
    event.newest_sent_at = echoed->sent_at;
  }
  if (event.rate && (!event.rate->app_limited || shown_rate_ != BitRate()))
    shown_rate_ = std::max(shown_rate_, BitRate::from_bytes_per(event.rate->delivered_bytes, event.rate->interval));
  event.app_limited = delivery_.app_limited();
  if (ack.extended) event.host_overloaded = note_overloads(ack.extended->host_overloads);
  event.peer_rate_packets = ack.rate_packets;
  event.peer_capacity_packets = ack.capacity_packets;
  congestion_->on_ack(event);
  update_pacing();
}

/// Whether the peer's count has risen.
bool UdtSender::note_overloads(std::uint32_t count) {
  const bool risen = static_cast<std::int32_t>(count - peer_overloads_) > 0;
  if (risen) peer_overloads_ = count;
  return risen;
}

std::uint64_t UdtSender::in_flight_bytes() const {
  return saturating_difference(saturating_difference(sent_offset_, delivered_bytes()),
                               repair_bytes_ + guess_.gone_bytes());
}

/// As the peer reports; else what it has acknowledged, and the rest guessed from what it does not ask for.
std::uint64_t UdtSender::delivered_bytes() const {
  if (peer_.reports_bytes) return std::max(reported_delivered_bytes_, acknowledged_bytes_);
  return acknowledged_bytes_ + guess_.presumed_bytes();
}

// ---- Losses -------------------------------------------------------------------------------------------------------

void UdtSender::on_nak(TimePoint now, std::span<const SequenceRange> list) {
  LossEvent event;
  if (now - nak_budget_since_ > std::max<Duration>(rtt_.smoothed(), kSyn)) {
    nak_budget_since_ = now;
    nak_budget_packets_ = kNakBudgetPerPacket * packets_.size() + kLeastNakBudget;
  }
  const auto behind = behind_new_gap(list);
  if (behind) take_rtt_of_gap(now, *behind);
  PacketIndex from = packets_.begin_index();  // the list ascends: each packet is marked once, however long it is
  for (const auto& [first_sequence, last_sequence] : list) {
    const auto first = sequences_.index_of(first_sequence, packets_.end_index());
    const auto last = sequences_.index_of(last_sequence, packets_.end_index());
    if (!last || *last >= packets_.end_index() || first.value_or(0) > *last) continue;
    const PacketIndex begin = std::max(first.value_or(0), from);
    if (begin <= *last && *last - begin >= nak_budget_packets_) break;
    const std::uint64_t lost_before = event.lost_bytes;
    for (PacketIndex index = begin; index <= *last; ++index, --nak_budget_packets_) mark_lost(now, index, event);
    if (event.lost_bytes > lost_before) ++event.runs;
    from = std::max(from, *last + 1);
    if (!peer_.reports_bytes) guess_.presume_delivered(packets_, *last + 1);
  }
  if (event.lost_bytes > 0) report(now, event);
  if (behind) note_delivery(now, behind, {}, false);
}

/// A plain peer's ACKs stand still while a gap is open: its NAK, which leaves at once, shows the path by the packet
/// behind the gap. None of a packet that was sent again, or into a silence: it may have come at any time.
std::optional<SentPacket> UdtSender::behind_new_gap(std::span<const SequenceRange> list) const {
  if (peer_.reports_bytes || list.empty()) return std::nullopt;
  const auto last = sequences_.index_of(list.back().last, packets_.end_index());
  if (!last || guess_.has_heard_of(*last) || !packets_.contains(*last + 1)) return std::nullopt;
  const SentPacket& behind = packets_[*last + 1];
  return behind.sends == 1 && behind.sent_at > silenced_at_ ? std::optional(behind) : std::nullopt;
}

/// The first NAK of a gap may have been lost: an age that no answer has is that of a repeat.
void UdtSender::take_rtt_of_gap(TimePoint now, const SentPacket& behind) {
  const Duration age = now - behind.sent_at;
  if (!rtt_.measured() || age <= rtt_.timeout()) rtt_.on_sample(age);
}

void UdtSender::mark_lost(TimePoint now, PacketIndex index, LossEvent& event) {
  SentPacket& packet = packets_[index];
  // A copy sent less than a round trip ago cannot be missed yet: the NAK is older than it.
  if (packet.waits_for_repair || (packet.sends > 1 && !may_be_missed(now, packet))) return;
  guess_.take_back(packet);
  if (packet.sends == 1) trial_.on_lost(index);
  fit_trains(now, packet);
  packet.waits_for_repair = true;
  if (index == fragment_index_) fragment_offset_ = 0;
  repairs_.insert(index);
  repair_bytes_ += packet.bytes;
  count_loss(packet);
  if (packet.sent_at <= silenced_at_) return;  // gone with the silence, of which the congestion control knows
  lost_bytes_ += packet.bytes;
  event.lost_bytes += packet.bytes;
  event.new_epoch = event.new_epoch || packet.sent_at > loss_epoch_;
}

void UdtSender::report(TimePoint now, LossEvent event) {
  if (event.new_epoch) loss_epoch_ = now;
  event.now = now;
  event.of_long_trains = std::exchange(trains_shortened_, false);
  congestion_->on_loss(event);
  update_pacing();
}

void UdtSender::arm_probe(TimePoint now) {
  const bool waiting = !packets_.empty();
  const std::size_t bytes = next_new_bytes();
  const bool shut_out = bytes > 0 && !within_peer_window(bytes);
  if (!waiting && !shut_out) {
    probe_.disarm();
    return;
  }
  const Duration answer = answer_time();
  // Of a packet that fills a gap libudt tells as soon as one of ours would.
  const bool fills_gap = guess_.misses_oldest(packets_) && !packets_[packets_.begin_index()].waits_for_repair;
  const Duration wait = answer + (fills_gap ? kSyn : peer_.ack_wait);
  const TimePoint since = fills_gap ? packets_[packets_.begin_index()].sent_at : now;
  // A path that comes back is to be noticed within a few of its round trips.
  const Duration known = std::max({peer_.longest_probe_gap, peer_.longest_probe_gap_rtts * rtt_.smoothed(),
                                   peer_.longest_probe_gap_answers * answer});
  // Of a peer that has never answered nobody can say what a round trip is.
  probe_.arm(now, since, wait, rtt_.measured() || delivered_bytes() > 0 ? known : Duration::max());
}

Duration UdtSender::answer_time() const {
  if (!rtt_.measured()) return kUnknownAnswer;
  const Duration queued = 4 * *rtt_.minimum() + kMaxQueue + wire_time(payload_bytes_);
  const std::size_t newest_bytes = packets_.empty() ? 0 : packets_[packets_.end_index() - 1].bytes;
  return std::min<Duration>(rtt_.timeout(), queued) + more_wire_time(newest_bytes);
}

/// The rate that the path was found to carry, or at least has; 0: there was never enough to send to know.
BitRate UdtSender::shown_rate() const {
  const BitRate found = congestion_->path_rate();
  return found.bytes_per_second() > 0 ? found : shown_rate_;
}

/// At the rate that was shown.
Duration UdtSender::wire_time(std::size_t bytes) const {
  const std::uint64_t rate = shown_rate().bytes_per_second();
  if (rate == 0) return Duration::zero();
  return std::min<Duration>(duration_of(static_cast<double>(bytes) / static_cast<double>(rate)), kMostWireTime);
}

Duration UdtSender::most_wire_time(std::size_t bytes) const {
  const Duration shown = shown_rate().bytes_per_second() > 0 ? wire_time(bytes) : kMostWireTime;
  return rtt_.measured() ? std::min(shown, share_of_rtt(bytes)) : shown;
}

/// As if that were all that the least round trip consisted of.
Duration UdtSender::share_of_rtt(std::size_t bytes) const {
  const double share = static_cast<double>(bytes) / static_cast<double>(2 * (largest_answered_bytes_ + kOverheadBytes));
  return std::min<Duration>(duration_of(seconds_of(*rtt_.minimum()) * share), kMostWireTime);
}

/// A packet larger than any that was answered takes longer on the wire.
Duration UdtSender::more_wire_time(std::size_t bytes) const {
  return bytes > largest_answered_bytes_ ? share_of_rtt(bytes - largest_answered_bytes_) : Duration::zero();
}

void UdtSender::note_small_rtt(TimePoint now, const SmallRtt& rtt) {
  if (rtt_.measured()) return;
  rtt_.on_sample(rtt.value);
  largest_answered_bytes_ = std::max(rtt.bytes / 2, kOverheadBytes) - kOverheadBytes;
  if (probe_.state() != ProbeTimeout::State::idle) arm_probe(now);
}

void UdtSender::handle_timeout(TimePoint now) {
  if (now >= probe_.deadline()) probe(now);
}

/// The newest packet makes the peer tell what it misses before it; the oldest is what it waits for.
void UdtSender::probe(TimePoint now) {
  if (!packets_.empty()) {
    LossEvent event;
    mark_lost_again(now, event);
    if (!peer_.reports_bytes) guess_.forget_what_has_left(packets_, now, rtt_.timeout());
    mark_lost(now, packets_.begin_index(), event);
    const PacketIndex newest = packets_.end_index() - 1;
    if (!guess_.misses_oldest(packets_) && may_be_missed(now, packets_[newest])) mark_lost(now, newest, event);
    if (event.lost_bytes > 0 && probe_.count() > 0) report(now, event);
  }
  probe_.fire(!packets_.empty());
  if (probe_.count() == kProbesUntilTimeout) {
    congestion_->on_timeout(now);
    copies_.clear();
    silenced_at_ = now;
    update_pacing();
    pacer_.forget_debt(now);
  }
  arm_probe(now);
}

bool UdtSender::suspects_black_hole(TimePoint now, std::size_t payload_bytes) const {
  if (packets_.empty()) return false;
  const SentPacket& oldest = packets_[packets_.begin_index()];
  const bool unanswered = probe_.count_while_heard() >= kProbesUntilBlackHole || oldest.sends >= kSendsUntilBlackHole;
  return oldest.bytes > payload_bytes && unanswered && probe_.heard() && now - large_delivered_at_ > 3 * rtt_.timeout();
}

void UdtSender::set_payload_bytes(std::size_t payload_bytes) {
  if (payload_bytes == payload_bytes_) return;
  payload_bytes_ = payload_bytes;
  congestion_->on_packet_size(payload_bytes);
}

void UdtSender::on_new_path(TimePoint now) {
  ++path_changes_;
  rtt_.reset();
  echoes_.clear();
  train_length_ = TrainLength();
  largest_answered_bytes_ = 0;
  shown_rate_ = BitRate();
  back_delay_ = BackDelay();
  congestion_ = new_congestion_control(now);
  copies_.clear();
  update_pacing();
  probe_.restart(now);
}

void UdtSender::update_pacing() {
  BitRate rate = congestion_->pacing_rate();
  if (!settings_.rate_cap.unlimited() && (rate.unlimited() || rate > settings_.rate_cap)) rate = settings_.rate_cap;
  pacer_.set_rate(rate.unlimited() ? 0 : std::max<std::uint64_t>(rate.bytes_per_second(), 1));
}

/// A peer asks for what is missing before the highest packet that came. Where the end of a flight is lost and many
/// repairs wait, none of those behind comes for long: a repair that left later and has come shows that they are lost.
void UdtSender::mark_overtaken(TimePoint now, PacketIndex highest, std::uint32_t echo_us, LossEvent& event) {
  const auto echoed = echoes_.find(echo_us);
  if (!echoed) return;
  const TimePoint overtaken = echoed->sent_at - rtt_.smoothed() / kReorderingPart;
  PacketIndex index = std::max({highest + 1, overtaken_end_, packets_.begin_index()});
  const std::uint64_t lost_before = event.lost_bytes;
  for (; index < packets_.end_index() && packets_[index].sent_at < overtaken; ++index) mark_lost(now, index, event);
  if (event.lost_bytes > lost_before) ++event.runs;
  overtaken_end_ = index;
}

/// A peer that asks once for a gap: marks what its one NAK, or our copy, must have missed.
void UdtSender::mark_lost_again(TimePoint now, LossEvent& event) {
  if (peer_.reports_bytes) return;
  const auto mark = [&](PacketIndex index) { mark_lost(now, index, event); };
  if (popped_repaired_) guess_.presume_nak_lost(packets_, now, rtt_.timeout());
  if (!guess_.suspect(packets_, now, rtt_.timeout(), mark)) return;
  guess_.forget_what_has_left(packets_, now, rtt_.timeout());
  probe_.allow(kUrgentPackets, kUrgentPackets);
}

}  // namespace udtcat::transport::native
