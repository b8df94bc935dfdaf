// SPDX-License-Identifier: Apache-2.0
// The trains of a sender: what leaves next, and how it is cut.
#include <algorithm>
#include <utility>

#include "lib/transport/native/congestion/measures.hpp"
#include "lib/transport/native/udt_sender.hpp"

namespace udtcat::transport::native {

namespace {

constexpr std::size_t kMaxPieces = 16;        // guess: of one packet: a storm of tiny writes is cut a little shorter
constexpr std::uint16_t kSendsUntilCopy = 3;  // guess: a packet whose repair was lost has cost a round trip more
constexpr std::size_t kTellingTrain = 4;      // guess: of fewer packets no half tells much
constexpr Duration kCheapWireTime = std::chrono::milliseconds(10);  // spec: draft-ietf-ccwg-bbr: at 1.2 Mbit/s
constexpr std::size_t kMaxCopies = 64;  // guess: what is lost of a train, and not what an overflow loses

}  // namespace

bool UdtSender::compose_train(TimePoint now, TrainBuilder& builder) {
  if (now < settings_.hold_until) return false;
  if (probe_.deadline() == TimePoint::max()) arm_probe(now);
  const Turn turn = next_turn();
  turn == Turn::nothing ? pacer_.on_idle(now) : pacer_.on_work(now);
  // A probe asks whether there still is a path to pace for.
  const bool probing = turn == Turn::repair && probe_.probes();
  if (!probing && !pacer_.ready(now)) return false;
  // Where the first repair was lost itself, the path may lose trains: these leave as single datagrams.
  const bool was_lost_again = turn == Turn::repair && packets_[repairs_.front()].sends > 1;
  builder.train().singly = trial_.repairs_singly() || was_lost_again;
  switch (turn) {
    case Turn::repair:
      add_repairs(now, builder, probing ? 0 : train_limit());
      break;
    case Turn::copy:
      add_copies(now, builder);
      break;
    case Turn::new_data:
      add_new_train(now, builder);
      break;
    case Turn::nothing:
      break;
  }
  if (builder.empty()) return false;
  if (!probing) pacer_.on_sent(now, builder.train().total_bytes - kHeaderBytes * builder.train().datagrams());
  return true;
}

/// The kind of packet that would leave next if the pacer let it.
UdtSender::Turn UdtSender::next_turn() const {
  if (!repairs_.empty())
    return probe_.probes() || may_send(packets_[repairs_.front()].bytes) ? Turn::repair : Turn::nothing;
  if (!copies_.empty()) return Turn::copy;
  const std::size_t bytes = next_new_bytes();
  if (bytes == 0) return Turn::nothing;
  return (probe_.probes_window() || within_peer_window(bytes)) && may_send(bytes) ? Turn::new_data : Turn::nothing;
}

/// The congestion window decides; a packet may always leave when nothing is in flight.
bool UdtSender::may_send(std::size_t bytes) const {
  const std::uint64_t in_flight = in_flight_bytes();
  return in_flight == 0 || in_flight + bytes <= window_bytes();
}

/// Still counted as in flight, but arrived at the peer: their ACKs wait in a queue on the way back.
std::uint64_t UdtSender::arrived_unheard_bytes() const {
  const Duration delay = back_delay_.value();
  return delay == Duration::zero() ? 0 : bytes_during(shown_rate(), delay);
}

std::size_t UdtSender::next_new_bytes() const {
  const std::size_t bytes = queue_.contiguous(sent_offset_, payload_bytes_, kMaxPieces);
  // The last one is never full.
  if (peer_.holds_full_packets && bytes == payload_bytes_ && bytes > 1 && sent_offset_ + bytes == queue_.end_offset())
    return bytes - 1;
  return bytes;
}

bool UdtSender::within_peer_window(std::size_t bytes) const {
  return packets_.end_index() < window_end_ && sent_offset_ + bytes <= window_end_offset_ &&
         sent_offset_ + bytes - acknowledged_offset() <= settings_.memory_bytes;
}

std::size_t UdtSender::train_limit() const {
  const std::uint64_t window = window_bytes();
  const std::uint64_t room = window - std::min(window, in_flight_bytes());
  return static_cast<std::size_t>(std::min<std::uint64_t>(pacer_.train_bytes(payload_bytes_), room));
}

/// At least one packet, and more up to `limit` bytes.
void UdtSender::add_repairs(TimePoint now, TrainBuilder& builder, std::size_t limit) {
  while (!repairs_.empty()) {
    const PacketIndex index = repairs_.front();
    const SentPacket& packet = packets_[index];
    if (packet.bytes > payload_bytes_ && peer_.extended) {
      if (builder.empty()) add_fragment(now, index, builder);
      return;
    }
    if (!builder.takes(packet.bytes) || (!builder.empty() && builder.train().total_bytes + packet.bytes > limit))
      return;
    add_packet(now, index, builder);
    note_worth_a_copy(index);
    probe_.on_repair_sent();
  }
}

void UdtSender::add_new_train(TimePoint now, TrainBuilder& builder) {
  const PacketIndex first = packets_.end_index();
  builder.train().singly = trial_.next_singly();
  add_new_data(now, builder);
  trial_.on_sent(first, packets_.end_index() - first);
  note_train(now, first);
}

void UdtSender::note_train(TimePoint now, PacketIndex first) {
  const PacketIndex packets = packets_.end_index() - first;
  // SAFETY: TrainBuilder::kMaxPackets is 64.
  for (PacketIndex place = 0; place < packets; ++place) {
    packets_[first + place].train_packets = static_cast<std::uint8_t>(packets);
    packets_[first + place].train_place = static_cast<std::uint8_t>(place);
  }
  train_length_.on_sent(now, Pacer::kSlowTrainTime);
  pacer_.limit_trains(train_length_.limit());
}

void UdtSender::fit_trains(TimePoint now, const SentPacket& lost) {
  if (lost.sends != 1 || lost.train_packets < kTellingTrain || rtt_shows_queue()) return;
  const Duration train = pacer_.paced_time(lost.train_packets * payload_bytes_);
  if (train == Duration::zero()) return;
  if (train_length_.on_lost(now, lost.sent_at, train, 2 * lost.train_place >= lost.train_packets))
    trains_shortened_ = true;
  pacer_.limit_trains(train_length_.limit());
}

/// All behind a lost packet waits for it: where one round trip more is the end's, or has been lost, a copy is cheap.
void UdtSender::note_worth_a_copy(PacketIndex index) {
  if (!peer_.extended || probe_.probes() || copies_.size() >= kMaxCopies) return;
  if (wire_time(payload_bytes_) > kCheapWireTime) return;
  if (packets_[index].sends >= kSendsUntilCopy || next_new_bytes() == 0) copies_.push_back(index);
}

void UdtSender::add_copies(TimePoint now, TrainBuilder& builder) {
  for (const PacketIndex index : std::exchange(copies_, {})) {
    if (!packets_.contains(index) || packets_[index].waits_for_repair) continue;
    if (packets_[index].bytes > payload_bytes_ || !builder.takes(packets_[index].bytes)) continue;
    add_packet(now, index, builder);
    --packets_[index].sends;  // one try, for whoever counts them
  }
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
    const PacketIndex index = packets_.end_index();
    packets_.push_back({.offset = sent_offset_, .bytes = static_cast<std::uint32_t>(bytes), .snapshot = {}});
    add_packet(now, index, builder);
  }
  if (in_flight_bytes() < window_bytes()) delivery_.on_app_limited(in_flight_bytes());
}

void UdtSender::add_first_words(const FirstWords& words) {
  const auto bytes = static_cast<std::uint32_t>(words.bytes.size());
  queue_.push(words.bytes);
  packets_.push_back({.offset = 0, .bytes = bytes, .snapshot = {}});
  note_sent(words.sent_at, packets_[packets_.begin_index()]);
  delivery_.on_app_limited(bytes);
}

void UdtSender::add_packet(TimePoint now, PacketIndex index, TrainBuilder& builder) {
  SentPacket& packet = packets_[index];
  builder.begin_packet(header_of(now, index, 0), packet.bytes);
  queue_.gather(packet.offset, packet.bytes, builder.payload());
  builder.end_packet();
  if (packet.waits_for_repair) {
    repairs_.erase(index);
    repair_bytes_ -= packet.bytes;
    packet.waits_for_repair = false;
  }
  note_sent(now, packet);
}

/// The path has become too narrow for a packet that was cut before: it goes in pieces (udt4.md §9).
void UdtSender::add_fragment(TimePoint now, PacketIndex index, TrainBuilder& builder) {
  SentPacket& packet = packets_[index];
  if (std::exchange(fragment_index_, index) != index) fragment_offset_ = 0;
  const std::uint32_t offset = fragment_offset_;
  const auto bytes = std::min<std::uint32_t>(packet.bytes - offset, static_cast<std::uint32_t>(payload_bytes_));
  builder.begin_packet(header_of(now, index, packet.bytes << 16 | offset), bytes);
  queue_.gather(packet.offset + offset, bytes, builder.payload());
  builder.end_packet();
  probe_.on_piece_sent();
  if (offset + bytes < packet.bytes) {
    fragment_offset_ = offset + bytes;
    return;
  }
  fragment_offset_ = 0;
  probe_.on_repair_sent();
  repairs_.erase(index);
  repair_bytes_ -= packet.bytes;
  packet.waits_for_repair = false;
  note_sent(now, packet);
}

void UdtSender::note_sent(TimePoint now, SentPacket& packet) {
  const bool first = packet.sends == 0;
  if (packets_.size() == 1 && first) answered_at_ = now;
  const std::uint64_t counted = in_flight_bytes();
  const std::uint64_t in_flight = counted - std::min<std::uint64_t>(counted, first ? 0 : packet.bytes);
  packet.snapshot = delivery_.on_sent(now, in_flight, packet.bytes, lost_bytes_);
  packet.sent_at = now;
  packet.sends = static_cast<std::uint16_t>(std::min(packet.sends + 1, 0xffff));
  if (peer_.reports_bytes) echoes_.on_sent({timestamp_us(now), now, packet.snapshot});
  if (first) sent_offset_ += packet.bytes;
  ++stats_.packets_sent;
  loss_by_rate_.on_sent(now);
  if (!first) ++stats_.packets_resent;
  congestion_->on_sent(now, packet.bytes, in_flight - std::min(in_flight, arrived_unheard_bytes()));
  const bool oldest_again = !first && packet.offset == acknowledged_offset();
  if (probe_.deadline() == TimePoint::max() || (oldest_again && guess_.misses_oldest(packets_))) arm_probe(now);
}

DataHeader UdtSender::header_of(TimePoint now, PacketIndex index, std::uint32_t message) const {
  if (peer_.message_flags != 0) message = peer_.message_flags | (static_cast<std::uint32_t>(index + 1) & 0x1fff'ffff);
  return {sequences_.on_wire(index), message, timestamp_us(now), settings_.peer_id};
}

std::optional<TimePoint> UdtSender::deadline(TimePoint now) const {
  TimePoint earliest = probe_.deadline();
  if (next_turn() != Turn::nothing) {
    const bool probing = probe_.probes() && !repairs_.empty();
    const TimePoint paced = probing || pacer_.ready(now) ? now : pacer_.deadline(now);
    earliest = std::min(earliest, std::max(paced, settings_.hold_until));
  }
  if (earliest == TimePoint::max()) return std::nullopt;
  return earliest;
}

}  // namespace udtcat::transport::native
