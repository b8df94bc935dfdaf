// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/udt_receiver.hpp"

#include <algorithm>
#include <utility>

#include <udtcat/units.hpp>

#include "lib/transport/native/acknowledgement.hpp"

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kOwnAckBytes = 128 * kKiB;  // guess: two trains
constexpr std::uint64_t kFirstAckShare = 8;         // guess: of the bytes so far, while that is less than two trains
constexpr Duration kLeastAckDelay = 1ms;            // guess: well above what a timer costs
constexpr Duration kShortPacketAckGap = 1ms;        // guess: streams of short packets
constexpr Duration kFirstRepeat = 20ms;             // measured: libudt swallows what comes within 8 ms of its handshake
constexpr std::size_t kNakRanges = 64;              // spec: udt4.md §9: 556 bytes of IPv4, which every path carries
constexpr std::size_t kLeastFlight = 32;       // guess: twice what a handshake ever promises beyond the buffer's limit
constexpr Duration kOldestConfirmation = 60s;  // guess: an older ACK2 is nonsense
constexpr std::uint32_t kMessageWhole = 0;

}  // namespace

UdtReceiver::UdtReceiver(const Settings& settings, core::ChunkPool& chunks)
    : settings_(settings),
      peer_(traits_of(settings.peer)),
      sequences_(settings.initial_sequence),
      buffer_(settings.limit_bytes, chunks) {
  // libudt's rate does not grow while it does not know of a gap: the tolerance has no part of the round trip.
  if (!peer_.sends_trains) losses_.on_rtt(Duration::zero());
}

// ---- Packets in ---------------------------------------------------------------------------------------------------

void UdtReceiver::on_data(TimePoint now, const DataHeader& header, const Arrival& arrival) {
  const auto index = sequences_.index_of(header.sequence, highest_end_);
  if (!index || beyond_any_window(*index)) return;
  if (*index > highest_end_ && losses_.full()) return;  // as if the path had lost it
  const bool fragment = peer_.extended && header.message != kMessageWhole;
  const auto outcome = fragment ? buffer_.store_fragment(*index, arrival, header.message & 0xffff, header.message >> 16)
                                : buffer_.store(*index, arrival);
  if (outcome == ReceiveBuffer::Outcome::no_room) return;  // as if the path had lost it
  if (!peer_.sends_trains)
    arrival_times_.on_packet(header.sequence, arrival.when.count() != 0 ? arrival.when : now.time_since_epoch());
  latest_timestamp_us_ = header.timestamp_us;
  latest_arrival_ = now;
  if (first_arrival_ == TimePoint{}) first_arrival_ = now;
  // A duplicate: the ACK of the first copy was lost. It is sent again, one for many duplicates.
  if (outcome == ReceiveBuffer::Outcome::duplicate) return want_ack(now + peer_.duplicate_ack_delay);
  if (fragment && !buffer_.has(*index)) return;
  note_arrival(now, header, *index, arrival.payload.size());
}

/// No announced window reaches so far: the packet would cost a slot for each one before it.
bool UdtReceiver::beyond_any_window(PacketIndex index) const {
  return index >= buffer_.next() + buffer_.limit_bytes() / window_unit_bytes() + kLeastFlight;
}

void UdtReceiver::note_arrival(TimePoint now, const DataHeader& header, PacketIndex index, std::size_t payload_bytes) {
  if (index > highest_end_) losses_.add(now, highest_end_, index - 1, header.timestamp_us);
  if (index < highest_end_) losses_.fill(now, index, header.timestamp_us);
  highest_end_ = std::max(highest_end_, index + 1);
  arrival_rate_.on_packet();
  ++packets_since_ack_;
  if (peer_.sends_trains) {
    // At the beginning ACKs are more frequent: the sender's window grows by them.
    const std::uint64_t much = std::min(kOwnAckBytes, buffer_.received_bytes() / kFirstAckShare);
    const bool enough = packets_since_ack_ * payload_bytes >= much;
    return want_ack(enough ? now : now + ack_delay());
  }
  want_ack_of_burst(now, index, payload_bytes);
}

void UdtReceiver::want_ack_of_burst(TimePoint now, PacketIndex index, std::size_t payload_bytes) {
  if (packets_since_ack_ % kLightAckPackets == 0) light_due_ = true;
  // libudt acknowledges each 10 ms. An ACK at the end of a burst helps a sender with a small window.
  const bool last_of_burst = payload_bytes != settings_.payload_bytes;
  // A gap is filled: libudt's rate grows by ACKs that move only, and none has moved since the gap.
  const bool filled = index + 1 < highest_end_ && index < buffer_.next();
  want_ack(std::max(last_of_burst || filled ? now : now + kSyn, last_full_ack_ + kShortPacketAckGap));
}

Duration UdtReceiver::ack_delay() const { return std::clamp<Duration>(rtt_.smoothed() / 4, kLeastAckDelay, kSyn); }

std::optional<Duration> UdtReceiver::on_ack2(TimePoint now, std::uint32_t ack_number) {
  const SentAck& sent = sent_acks_[ack_number % kAckHistory];
  if (sent.number != ack_number || sent.at == TimePoint{} || now - sent.at > kOldestConfirmation) return std::nullopt;
  const Duration rtt = now - sent.at;
  rtt_.on_sample(rtt);
  if (peer_.sends_trains) losses_.on_rtt(rtt_.smoothed());
  if (ack_number + 1 == next_ack_number_) acked_confirmed_ = true;
  sent_acks_[ack_number % kAckHistory] = {};
  return rtt;
}

void UdtReceiver::trust_peer(TimePoint now) {
  buffer_.trust_writer();
  if (highest_end_ > 0) want_ack(now);
}

std::size_t UdtReceiver::read(TimePoint now, std::span<std::byte> into) {
  const std::size_t bytes = buffer_.read(into);
  if (bytes > 0 && window_was_small_ && buffer_.free_bytes() >= buffer_.limit_bytes() / 4) {
    window_was_small_ = false;
    want_ack(now);
  }
  return bytes;
}

// ---- ACK and NAK out ----------------------------------------------------------------------------------------------

std::optional<TimePoint> UdtReceiver::deadline() const {
  const TimePoint nak_due = losses_.deadline().value_or(TimePoint::max());
  const TimePoint earliest = std::min(ack_due_, nak_due);
  if (light_due_) return TimePoint{};
  if (earliest == TimePoint::max()) return std::nullopt;
  return earliest;
}

std::optional<ControlMessage> UdtReceiver::poll_control(TimePoint now) {
  // Our own sender believes a repeated NAK by what has arrived that left later: it is to know that first.
  if (peer_.prompt_naks > 0 && packets_since_ack_ > 0 && losses_.repeats(now))
    want_ack(now);
  else if (auto nak = poll_nak(now))
    return nak;
  if (ack_due_ <= now) {
    ack_due_ = TimePoint::max();
    light_due_ = false;
    // libudt's sender needs no ACK without news; our own relies on the echo of each.
    if (!peer_.sends_trains && ack_point() == acked_ && acked_confirmed_ && !window_was_small_) return std::nullopt;
    return make_ack(now);
  }
  if (std::exchange(light_due_, false))
    return ControlMessage{ControlType::ack, 0, 0, light_words(sequences_.on_wire(ack_point()))};
  return std::nullopt;
}

std::optional<ControlMessage> UdtReceiver::poll_nak(TimePoint now) {
  const auto due = losses_.deadline();
  if (!due || *due > now) return std::nullopt;
  const auto ranges = losses_.take_due(now, kNakRanges, nak_backoff());
  if (ranges.empty()) return std::nullopt;
  ControlMessage nak{ControlType::nak, 0, 0, {}};
  for (const auto& [first, last] : ranges)
    append_loss(nak.words, {sequences_.on_wire(first), sequences_.on_wire(last)});
  return nak;
}

/// The usual time of a retransmission at first, then as long as it may take: our own sender believes no NAK that is too
/// early.
LossList::Backoff UdtReceiver::nak_backoff() const {
  const Duration tolerance = losses_.tolerance();
  return {.after = std::max(rtt_.timeout() + tolerance, peer_.least_nak_gap),
          .prompt = std::max(rtt_.smoothed() + tolerance, peer_.least_nak_gap),
          .prompts = rtt_.measured() ? peer_.prompt_naks : 0};
}

/// The packet that an ACK names: all before it have arrived. While the buffer is nearly full it is one less for libudt:
/// only an ACK that moves, not one with a larger window, makes its sender go on.
PacketIndex UdtReceiver::ack_point() const {
  if (!peer_.wakes_by_progress) return buffer_.next();
  const std::uint64_t little =
      std::min<std::uint64_t>(16 * settings_.payload_bytes,  // guess: half of the smallest window there is
                              buffer_.limit_bytes() / 4);
  const bool full = buffer_.readable_bytes() > 0 && buffer_.free_bytes() < little;
  return full && buffer_.next() > acked_ ? buffer_.next() - 1 : buffer_.next();
}

/// The payload of the packets that the window counts. Our own ends may send smaller packets than agreed, and know from
/// free_kib how many bytes there is room for.
std::size_t UdtReceiver::window_unit_bytes() const {
  return std::min(settings_.payload_bytes, peer_.most_window_unit_bytes);
}

std::uint32_t UdtReceiver::window_packets() const {
  const std::uint64_t packets = buffer_.free_bytes() / window_unit_bytes();
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(packets, kLeastWindow, kMaxWindowPackets));
}

ControlMessage UdtReceiver::make_ack(TimePoint now) {
  arrival_rate_.close_interval(now);
  packets_since_ack_ = 0;
  window_was_small_ = buffer_.free_bytes() < buffer_.limit_bytes() / 4;
  ControlMessage ack{ControlType::ack, 0, 0, {}};
  ack.words = full_words({sequences_.on_wire(ack_point()), rtt_.smoothed(), rtt_.variation(), window_packets(),
                          peer_.sends_trains ? arrival_rate_.rate_packets() : arrival_times_.rate_packets(),
                          peer_.sends_trains ? arrival_rate_.capacity_packets() : arrival_times_.capacity_packets()});
  if (peer_.extended) append_report(now, ack.words);
  // ACK2 confirms an ACK with a number: a few in a round trip are enough to measure it.
  if (peer_.sends_trains && now - last_full_ack_ < std::max<Duration>(rtt_.smoothed() / 4, kSyn)) return ack;
  ack.additional = next_ack_number_;
  sent_acks_[next_ack_number_ % kAckHistory] = {next_ack_number_, now};
  next_ack_number_ = (next_ack_number_ + 1) & kSequenceMask;
  const bool repeated = acked_ == ack_point() && !acked_confirmed_;
  acked_ = ack_point();
  acked_confirmed_ = false;
  last_full_ack_ = now;
  if (!peer_.sends_trains) want_ack(now + (repeated ? std::max<Duration>(rtt_.timeout(), kFirstRepeat) : kFirstRepeat));
  return ack;
}

void UdtReceiver::append_report(TimePoint now, std::vector<std::uint32_t>& words) const {
  const auto delay = std::chrono::duration_cast<std::chrono::microseconds>(now - latest_arrival_).count();
  append_extension(words, {.highest = sequences_.on_wire(highest_end_ == 0 ? 0 : highest_end_ - 1),
                           .received_bytes = buffer_.received_bytes(),
                           .echo_us = latest_timestamp_us_,
                           .delay_us = static_cast<std::uint32_t>(std::clamp<std::int64_t>(delay, 0, 60'000'000)),
                           .free_kib = static_cast<std::uint32_t>(buffer_.free_bytes() / 1024),
                           .host_overloads = host_overloads_,
                           .arrived_us = timestamp_us(latest_arrival_, first_arrival_)});
}

}  // namespace udtcat::transport::native
