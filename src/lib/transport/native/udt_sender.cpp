// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/udt_sender.hpp"

#include <algorithm>
#include <utility>

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMaxPieces = 16;  // guess: of one packet: of many tiny writes packets are a little smaller
constexpr std::uint16_t kSendsUntilCopy =
    3;                                     // guess: its retransmission was lost: another loss costs a round trip more
constexpr Duration kCheapWireTime = 10ms;  // spec: draft-ietf-ccwg-bbr: at 1.2 Mbit/s
constexpr std::size_t kMaxCopies = 64;     // guess: of a train that is lost, not of a queue that overflows
constexpr std::uint64_t kMuchPackets = 4;  // guess: a short message, and answers to others
constexpr std::uint32_t kProbesUntilTimeout = 2;    // guess: one may be lost itself
constexpr std::uint32_t kProbesUntilBlackHole = 3;  // guess
constexpr std::uint16_t kSendsUntilBlackHole = 10;  // guess: at 10 % random loss one packet in 10^10
constexpr std::size_t kUrgentPackets = 2;  // guess: of packets that are lost again: they leave beyond the window

}  // namespace

UdtSender::UdtSender(const Settings& settings)
    : settings_(settings),
      peer_(traits_of(settings.peer)),
      sequences_(settings.initial_sequence),
      clock_zero_(settings.handshake_data ? settings.handshake_data->clock_zero : settings.started),
      payload_bytes_(settings.payload_bytes),
      window_(settings.window_packets),
      rate_({settings.congestion, settings.rate_cap, settings.random_seed, peer_.ack_packets, settings.group},
            settings.started, settings.payload_bytes, settings.known_path),
      losses_(peer_, sequences_),
      train_probe_(settings.known_path && settings.known_path->loses_trains, settings.random_seed) {
  if (settings.first_rtt) note_small_rtt(settings.started, *settings.first_rtt);
  if (settings.handshake_data) add_handshake_data(*settings.handshake_data);
}

// ---- Trains out ---------------------------------------------------------------------------------------------------

bool UdtSender::poll_train(TimePoint now, TrainBuilder& builder) {
  const bool sending = compose_train(now, builder);
  counters_.set_stall_reason(now, stall_reason(sending));
  return sending;
}

bool UdtSender::compose_train(TimePoint now, TrainBuilder& builder) {
  if (now < settings_.hold_until) return false;
  if (probe_.deadline() == TimePoint::max()) arm_probe(now);
  make_room_for_lost(now);
  Pacer& pacer = rate_.pacer();
  const Work work = next_work();
  work == Work::none ? pacer.on_idle(now) : pacer.on_work(now);
  // A probe is not paced: it asks whether there still is a path.
  const bool probing = work == Work::retransmission && probe_.probes();
  if (!probing && !pacer.ready(now)) return false;
  // Where the first retransmission of a packet is lost, too, the path may lose trains: this one leaves singly.
  const bool was_lost_again = work == Work::retransmission && packets()[packets().first_lost()].sends > 1;
  builder.train().singly = train_probe_.retransmits_singly() || was_lost_again;
  switch (work) {
    case Work::retransmission:
      add_retransmissions(now, builder, probing ? 0 : train_limit());
      break;
    case Work::copy:
      add_copies(now, builder);
      break;
    case Work::new_data:
      add_new_train(now, builder);
      break;
    case Work::none:
      break;
  }
  if (builder.empty()) return false;
  if (!probing) pacer.on_sent(now, builder.train().total_bytes - kHeaderBytes * builder.train().datagrams());
  return true;
}

/// The kind of packet that would leave next if the pacer let it.
UdtSender::Work UdtSender::next_work() const {
  if (packets().has_lost())
    return probe_.probes() || may_send(packets()[packets().first_lost()].bytes) ? Work::retransmission : Work::none;
  if (!copies_.empty()) return Work::copy;
  const std::size_t bytes = next_new_bytes();
  if (bytes == 0) return Work::none;
  return (probe_.probes_window() || within_peer_window(bytes)) && may_send(bytes) ? Work::new_data : Work::none;
}

/// Whether the congestion window allows it; it does where nothing is in flight.
bool UdtSender::may_send(std::size_t bytes) const {
  const std::uint64_t in_flight = in_flight_bytes();
  return in_flight == 0 || in_flight + bytes <= window_bytes();
}

/// Behind an open gap a plain peer is silent: what arrives there would fill the window, and lost packets would leave
/// only as ACKs of the few before them come.
void UdtSender::make_room_for_lost(TimePoint now) {
  const auto waits = [&] { return packets().has_lost() && !may_send(packets()[packets().first_lost()].bytes); };
  if (waits() && (expires_at_ == TimePoint::max() || now >= expires_at_))
    expires_at_ = losses_.expire_unanswered(now, rtt());
  if (!waits()) expires_at_ = TimePoint::max();
}

std::size_t UdtSender::next_new_bytes() const {
  const std::size_t bytes = queue_.contiguous(sent_offset(), payload_bytes_, kMaxPieces);
  // libudt keeps a full last packet to itself: it is made a byte smaller.
  if (peer_.holds_full_packets && bytes == payload_bytes_ && bytes > 1 && sent_offset() + bytes == queue_.end_offset())
    return bytes - 1;
  return bytes;
}

bool UdtSender::fits_memory(std::size_t bytes) const {
  return sent_offset() + bytes - acknowledged_offset() <= settings_.memory_bytes;
}

bool UdtSender::within_peer_window(std::size_t bytes) const {
  return window_.takes(packets().end_index(), sent_offset() + bytes) && fits_memory(bytes);
}

std::size_t UdtSender::train_limit() const {
  const std::uint64_t window = window_bytes();
  const std::uint64_t room = window - std::min(window, in_flight_bytes());
  return static_cast<std::size_t>(std::min<std::uint64_t>(rate_.pacer().train_bytes(payload_bytes_), room));
}

/// Adds a lost packet, and more up to `limit` bytes.
void UdtSender::add_retransmissions(TimePoint now, TrainBuilder& builder, std::size_t limit) {
  while (packets().has_lost()) {
    const PacketIndex index = packets().first_lost();
    const std::size_t bytes = packets()[index].bytes;
    if (bytes > payload_bytes_ && peer_.extended) {
      if (builder.empty()) add_fragment(now, index, builder);
      return;
    }
    if (!builder.takes(bytes) || (!builder.empty() && builder.train().total_bytes + bytes > limit)) return;
    add_packet(now, index, builder);
    copy_where_worth_it(index);
    probe_.on_retransmission_sent();
  }
}

/// Sends a retransmission twice where its loss would cost most: where nothing follows it, or one was lost already.
void UdtSender::copy_where_worth_it(PacketIndex index) {
  if (!peer_.extended || probe_.probes() || copies_.size() >= kMaxCopies) return;
  if (path_.wire_time(rate_.path_rate(), payload_bytes_) > kCheapWireTime) return;
  if (packets()[index].sends >= kSendsUntilCopy || next_new_bytes() == 0) copies_.push_back(index);
}

void UdtSender::add_copies(TimePoint now, TrainBuilder& builder) {
  for (const PacketIndex index : std::exchange(copies_, {})) {
    if (!packets().contains(index) || packets()[index].lost) continue;
    if (packets()[index].bytes > payload_bytes_ || !builder.takes(packets()[index].bytes)) continue;
    add_packet(now, index, builder);
    --packets()[index].sends;  // a copy is no further attempt
  }
}

void UdtSender::add_new_train(TimePoint now, TrainBuilder& builder) {
  const PacketIndex first = packets().end_index();
  builder.train().singly = train_probe_.next_singly();
  add_new_data(now, builder);
  const PacketIndex count = packets().end_index() - first;
  train_probe_.on_sent(first, count);
  // SAFETY: TrainBuilder::kMaxPackets is 64.
  for (PacketIndex place = 0; place < count; ++place) {
    packets()[first + place].train_packets = static_cast<std::uint8_t>(count);
    packets()[first + place].train_place = static_cast<std::uint8_t>(place);
  }
  rate_.on_train_sent(now);
}

void UdtSender::add_new_data(TimePoint now, TrainBuilder& builder) {
  const std::size_t limit = train_limit();
  for (std::size_t bytes = next_new_bytes(); bytes > 0; bytes = next_new_bytes()) {
    if (!builder.takes(bytes) || (!builder.empty() && builder.train().total_bytes + bytes > limit)) return;
    if (!within_peer_window(bytes)) {
      if (may_send(bytes)) delivery_.on_peer_limited(in_flight_bytes());
      if (!probe_.probes_window()) return;
      probe_.on_window_probe_sent();
    }
    add_packet(now, packets().add(static_cast<std::uint32_t>(bytes)), builder);
  }
  if (in_flight_bytes() < window_bytes()) delivery_.on_app_limited(in_flight_bytes());
}

void UdtSender::add_handshake_data(const HandshakeData& words) {
  const auto bytes = static_cast<std::uint32_t>(words.bytes.size());
  queue_.push(words.bytes);
  note_sent(words.sent_at, packets().add(bytes));
  delivery_.on_app_limited(bytes);
}

void UdtSender::add_packet(TimePoint now, PacketIndex index, TrainBuilder& builder) {
  const SentPacket& packet = packets()[index];
  builder.begin_packet(header_of(now, index, 0), packet.bytes);
  queue_.gather(packet.offset, packet.bytes, builder.payload());
  builder.end_packet();
  note_sent(now, index);
}

/// The MTU has become less than a packet that was sent before: it is sent again in fragments (udt4.md §9).
void UdtSender::add_fragment(TimePoint now, PacketIndex index, TrainBuilder& builder) {
  const SentPacket& packet = packets()[index];
  if (fragments_.index != index) fragments_ = {.index = index};
  const std::uint32_t offset = fragments_.sent_bytes;
  const auto bytes = std::min<std::uint32_t>(packet.bytes - offset, static_cast<std::uint32_t>(payload_bytes_));
  builder.begin_packet(header_of(now, index, packet.bytes << 16 | offset), bytes);
  queue_.gather(packet.offset + offset, bytes, builder.payload());
  builder.end_packet();
  probe_.on_fragment_sent();
  fragments_.sent_bytes += bytes;
  if (fragments_.sent_bytes < packet.bytes) return;
  fragments_ = {};
  probe_.on_retransmission_sent();
  note_sent(now, index);
}

void UdtSender::note_sent(TimePoint now, PacketIndex index) {
  const SentPacket& packet = packets()[index];
  const bool again = packet.sends > 0;
  if (packets().size() == 1 && !again) answered_at_ = now;
  const std::uint64_t in_flight = packets().in_flight_bytes_without(index);
  packets().on_sent(now, index, delivery_.on_sent(now, in_flight, packet.bytes));
  if (again) losses_.on_sent_again(index);
  if (peer_.reports_bytes) echoes_.on_sent({timestamp_us(now), now, packet.snapshot});
  counters_.on_sent(now, again);
  rate_.on_sent(now, packet.bytes, in_flight - std::min(in_flight, arrived_unheard_bytes()));
  const bool oldest_again = again && index == packets().begin_index();
  if (probe_.deadline() == TimePoint::max() || (oldest_again && losses_.oldest_is_missing())) arm_probe(now);
}

DataHeader UdtSender::header_of(TimePoint now, PacketIndex index, std::uint32_t message) const {
  if (peer_.message_flags != 0) message = peer_.message_flags | (static_cast<std::uint32_t>(index + 1) & 0x1fff'ffff);
  return {sequences_.on_wire(index), message, timestamp_us(now), settings_.peer_id};
}

std::optional<TimePoint> UdtSender::deadline(TimePoint now) const {
  TimePoint earliest = std::min(probe_.deadline(), expires_at_);
  if (next_work() != Work::none) {
    const bool probing = probe_.probes() && packets().has_lost();
    const TimePoint paced = probing || rate_.pacer().ready(now) ? now : rate_.pacer().deadline(now);
    earliest = std::min(earliest, std::max(paced, settings_.hold_until));
  }
  if (earliest == TimePoint::max()) return std::nullopt;
  return earliest;
}

bool UdtSender::would_wait(TimePoint now) const {
  const bool much = queue_.end_offset() - acknowledged_offset() > kMuchPackets * payload_bytes_;
  return much || losses_.has_lost_lately(now);
}

// ---- Acknowledgements ---------------------------------------------------------------------------------------------

void UdtSender::on_ack(TimePoint now, Acknowledgement ack) {
  if (!peer_.reports_bytes) ack.extended.reset();  // its length alone would make it one of ours
  const auto next = sequences_.index_of(ack.next, packets().end_index());
  if (!next || !plausible(*next, ack)) return;
  std::optional<SentPacket> newest;  // that is known to have arrived
  const auto highest = ack.extended ? sequences_.index_of(ack.extended->highest, packets().end_index()) : std::nullopt;
  if (highest && packets().contains(*highest))
    newest = packets()[*highest];
  else if (packets().contains(*next - 1))
    newest = packets()[*next - 1];
  const bool progress =
      *next > packets().begin_index() || (ack.extended && ack.extended->received_bytes > packets().reported_bytes());
  if (*next > packets().begin_index() || !peer_has_room_for_oldest()) answered_at_ = now;
  window_.on_ack(*next, packets().contains(*next) ? packets()[*next].offset : sent_offset(), ack);
  acknowledge_before(now, *next);
  const bool is_current = *next == packets().begin_index();
  if (is_current && !ack.is_light()) fully_acknowledged_offset_ = acknowledged_offset();
  if (ack.extended) packets().on_reported(ack.extended->received_bytes);
  if (is_current) {
    LossDetection::Lost lost;
    mark_lost_again(now, lost);
    if (const auto echoed = ack.extended ? echoes_.find(ack.extended->echo_us) : std::nullopt)
      losses_.mark_overtaken(highest.value_or(*next), echoed->sent_at, now, rtt(), lost);
    if (take_losses(now, lost)) report(now, lost);
  }
  if (!progress) return;
  probe_.on_progress();
  take_rtt(now, ack, newest);
  if (newest) path_.on_answered(newest->bytes);
  note_delivery(now, newest, ack, losses_.acked_resent() && !ack.extended);
  arm_probe(now);
}

bool UdtSender::plausible(PacketIndex next, const Acknowledgement& ack) const {
  if (next > packets().end_index()) return false;
  return !ack.extended || ack.extended->received_bytes <= sent_offset();
}

void UdtSender::acknowledge_before(TimePoint now, PacketIndex next) {
  losses_.on_acknowledged_before(next);
  const bool trains_were_off = train_probe_.off();
  train_probe_.on_acknowledged(next);
  if (train_probe_.off() && !trains_were_off) rate_.restart(now, payload_bytes_);  // the path's loss was that of trains
  queue_.release_before(acknowledged_offset());
}

/// libudt's receiver announces kLeastWindow also where it has no room.
bool UdtSender::peer_has_room_for_oldest() const {
  if (packets().empty()) return false;
  if (!peer_.reports_bytes) return window_.packets() > kLeastWindow;
  return window_.takes(packets().begin_index(), packets().oldest().offset + packets().oldest().bytes);
}

std::optional<TimePoint> UdtSender::unanswered_since() const {
  if (packets().empty() && fully_acknowledged_offset_ < sent_offset())
    return answered_at_;  // a light ACK is no answer to the last
  return peer_has_room_for_oldest() ? std::optional(answered_at_) : std::nullopt;
}

void UdtSender::take_rtt(TimePoint now, const Acknowledgement& ack, const std::optional<SentPacket>& newest) {
  if (ack.extended) return path_.on_report(now, timestamp_us(now), *ack.extended);
  // Packets behind one that was sent again had to wait for it: none of them gives a sample (Karn's rule).
  if (newest && newest->sends == 1 && !losses_.acked_resent()) path_.on_rtt(now - newest->sent_at);
}

/// had_waited   the packets behind one that was sent again: their ACK gives no rate sample
void UdtSender::note_delivery(TimePoint now, const std::optional<SentPacket>& newest, const Acknowledgement& ack,
                              bool had_waited) {
  const std::uint64_t before = delivery_.delivered_bytes();
  delivery_.on_delivered(now, delivered_bytes(), had_waited);
  AckEvent event;
  event.now = now;
  event.delivered_total_bytes = delivery_.delivered_bytes();
  event.newly_delivered_bytes = event.delivered_total_bytes - before;
  const std::uint64_t in_flight = in_flight_bytes();
  event.in_flight_bytes = in_flight - std::min(in_flight, arrived_unheard_bytes());
  if (rtt().measured()) event.rtt = path_.forward_rtt();
  event.least_rtt = rtt().minimum();
  if (newest) {
    if (!had_waited && path_.has_carried(newest->sent_at))
      event.rate = delivery_.sample(now, newest->sent_at, newest->snapshot);
    if (newest->sends == 1) event.newest_sent_at = newest->sent_at;
    if (newest->bytes >= payload_bytes_) large_delivered_at_ = now;
  }
  if (const auto echoed = ack.extended ? echoes_.find(ack.extended->echo_us) : std::nullopt) {
    event.rate = delivery_.sample(now, echoed->sent_at, echoed->snapshot);
    event.newest_sent_at = echoed->sent_at;
  }
  if (event.rate) path_.on_rate(*event.rate);
  event.app_limited = delivery_.app_limited();
  if (ack.extended) event.host_overloaded = note_overloads(ack.extended->host_overloads);
  event.peer_rate_packets = ack.rate_packets;
  event.peer_capacity_packets = ack.capacity_packets;
  rate_.on_ack(event);
}

/// Whether the peer's count has risen.
bool UdtSender::note_overloads(std::uint32_t count) {
  const bool risen = static_cast<std::int32_t>(count - peer_overloads_) > 0;
  if (risen) peer_overloads_ = count;
  return risen;
}

// ---- Losses -------------------------------------------------------------------------------------------------------

void UdtSender::on_nak(TimePoint now, std::span<const SequenceRange> list) {
  const auto behind = losses_.behind_new_gap(list);
  if (behind) take_rtt_of_gap(now, *behind);
  const LossDetection::Lost lost = losses_.on_nak(now, list, rtt());
  if (take_losses(now, lost)) report(now, lost);
  if (behind) note_delivery(now, behind, {}, false);
}

/// Where the first NAK of a gap was lost its repeat gives no sample: it is later than any answer.
void UdtSender::take_rtt_of_gap(TimePoint now, const SentPacket& behind) {
  const Duration age = now - behind.sent_at;
  if (!rtt().measured() || age <= rtt().timeout()) path_.on_rtt(age);
}

void UdtSender::mark_lost_again(TimePoint now, LossDetection::Lost& lost) {
  if (losses_.mark_lost_again(now, rtt(), lost)) probe_.allow(kUrgentPackets, kUrgentPackets);
}

/// returns   whether congestion control is to be told
bool UdtSender::take_losses(TimePoint now, const LossDetection::Lost& lost) {
  const bool with_queue = path_.rtt_shows_queue();
  for (const PacketIndex index : lost.packets) {
    if (index == fragments_.index) fragments_ = {};
    const SentPacket& packet = packets()[index];
    counters_.on_lost(packet.sent_at, with_queue);
    if (packet.sends > 1) continue;
    train_probe_.on_lost(index);
    if (!with_queue) rate_.on_train_loss(now, packet, payload_bytes_);
  }
  delivery_.on_lost(lost.event.lost_bytes);
  return lost.event.lost_bytes > 0;
}

void UdtSender::report(TimePoint now, const LossDetection::Lost& lost) { rate_.on_loss(losses_.event_of(now, lost)); }

// ---- Silence ------------------------------------------------------------------------------------------------------

void UdtSender::handle_timeout(TimePoint now) {
  if (now >= probe_.deadline()) probe(now);
}

void UdtSender::probe(TimePoint now) {
  if (!packets().empty()) {
    LossDetection::Lost lost;
    mark_lost_again(now, lost);
    losses_.mark_probes(now, rtt(), lost);
    if (take_losses(now, lost) && probe_.count() > 0) report(now, lost);
  }
  probe_.fire(!packets().empty());
  if (probe_.count() == kProbesUntilTimeout) {
    copies_.clear();
    losses_.on_timeout(now);
    rate_.on_timeout(now);
  }
  arm_probe(now);
}

void UdtSender::arm_probe(TimePoint now) {
  const bool waiting = !packets().empty();
  const std::size_t bytes = next_new_bytes();
  const bool shut_out = bytes > 0 && !within_peer_window(bytes);
  if (!waiting && !shut_out) return probe_.disarm();
  const Duration answer = answer_time();
  // libudt acknowledges a packet that fills a gap as soon as one of our own peers would.
  const bool fills_gap = losses_.oldest_is_missing() && !packets().oldest().lost;
  const Duration wait = answer + (fills_gap ? kSyn : peer_.ack_wait);
  const TimePoint since = fills_gap ? packets().oldest().sent_at : now;
  // The end of an outage is to be noticed within a few round trips.
  const Duration known = std::max({peer_.longest_probe_gap, peer_.longest_probe_gap_rtts * rtt().smoothed(),
                                   peer_.longest_probe_gap_answers * answer});
  // Before the first answer the round trip may be of any length.
  probe_.arm(now, since, wait, rtt().measured() || delivered_bytes() > 0 ? known : Duration::max());
}

Duration UdtSender::answer_time() const {
  const std::size_t newest_bytes = packets().empty() ? 0 : packets()[packets().end_index() - 1].bytes;
  return path_.answer_time(rate_.path_rate(), payload_bytes_, newest_bytes);
}

void UdtSender::note_small_rtt(TimePoint now, const SmallRtt& rtt) {
  if (path_.on_small_rtt(now, rtt) && probe_.state() != ProbeTimeout::State::idle) arm_probe(now);
}

bool UdtSender::suspects_black_hole(TimePoint now, std::size_t payload_bytes) const {
  if (packets().empty()) return false;
  const SentPacket& oldest = packets().oldest();
  const bool unanswered = probe_.count_while_heard() >= kProbesUntilBlackHole || oldest.sends >= kSendsUntilBlackHole;
  return oldest.bytes > payload_bytes && unanswered && probe_.heard() &&
         now - large_delivered_at_ > 3 * rtt().timeout();
}

void UdtSender::set_payload_bytes(std::size_t payload_bytes) {
  if (payload_bytes == payload_bytes_) return;
  payload_bytes_ = payload_bytes;
  rate_.on_packet_size(payload_bytes);
}

void UdtSender::on_new_path(TimePoint now) {
  counters_.on_new_path();
  path_ = PathEstimator(now);
  echoes_.clear();
  copies_.clear();
  rate_.on_new_path(now, payload_bytes_);
  probe_.restart(now);
}

// ---- BothEndsStats
// -----------------------------------------------------------------------------------------------------

std::optional<StallReason> UdtSender::stall_reason(bool sending) const {
  if (sending) return StallReason::sending;
  if (!packets().has_lost() && copies_.empty()) {
    const std::size_t bytes = next_new_bytes();
    if (bytes == 0) return std::nullopt;
    if (!fits_memory(bytes)) return StallReason::memory;
    if (!within_peer_window(bytes)) return StallReason::peer_window;
  }
  return rate_.is_at_cap() ? StallReason::rate_cap : StallReason::path;
}

void UdtSender::add_end_stats(TimePoint now, EndStats& end) const {
  using std::chrono::microseconds;
  counters_.add_to(end, now, 2 * rtt().smoothed());
  end.path_rate = rate_.path_rate();
  end.rtt_sum = std::chrono::duration_cast<microseconds>(rtt().sum());
  end.rtt_samples = rtt().samples();
  if (const auto least = rtt().minimum()) end.least_rtt = std::chrono::duration_cast<microseconds>(*least);
  end.trains_off = train_probe_.off() ? 1 : 0;
  end.rate_cap = settings_.rate_cap;
  end.memory_bytes = settings_.memory_bytes;
}

}  // namespace udtcat::transport::native
