// SPDX-License-Identifier: Apache-2.0
/// Guesses at the fate of packets of which a plain peer does not tell.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "lib/transport/native/delivery_rate.hpp"
#include "lib/transport/native/sequence.hpp"

namespace udtcat::transport::native {

/// A plain peer asks once for a gap, and its ACKs stand still until that is filled. So what it does not ask for is
/// presumed to have arrived, and what it should have acknowledged by now is suspected lost again. Of a peer that
/// reports bytes nothing is guessed.
/// Threads: unsynchronised; time is a parameter.
class LossGuess {
 public:
  using Flight = IndexedRing<SentPacket>;

  /// The peer asked for packets before `end`: a gap shows by the packet behind it, so those that it did not ask for
  /// have arrived.
  void presume_delivered(Flight& flight, PacketIndex end);
  [[nodiscard]] bool has_heard_of(PacketIndex index) const { return index < presumed_end_; }
  /// An ACK that a repair has moved stops at a packet that was sent before and that no NAK has named: the NAK was lost,
  /// and may have named all that had left by then.
  void presume_nak_lost(Flight& flight, TimePoint now, Duration timeout);
  /// The oldest packet is missing: the peer asked for one beyond it.
  [[nodiscard]] bool misses_oldest(const Flight& flight) const {
    return !flight.empty() && presumed_end_ > flight.begin_index();
  }
  /// Calls `mark` with each packet to be taken for lost again: the oldest, when it is missed a round trip after it was
  /// sent, since its copy is lost then, or the NAK was. Where an ACK stops right behind the last of them a whole burst
  /// is lost, and twice as many go at once; where it gets beyond, the others had come.
  /// returns   whether there was one
  template <typename Mark>
  bool suspect(const Flight& flight, TimePoint now, Duration timeout, Mark mark);
  /// A packet sent longer ago than an answer takes is on the path no more: it counts as gone, and keeps no repair from
  /// leaving.
  void forget_what_has_left(Flight& flight, TimePoint now, Duration timeout);

  /// The packet leaves the flight, or is found lost: what was guessed of it counts no more.
  void take_back(SentPacket& packet) {
    if (std::exchange(packet.presumed, false)) presumed_bytes_ -= packet.bytes;
    take_back_gone(packet);
  }

  /// Of packets beyond the acknowledged ones.
  [[nodiscard]] std::uint64_t presumed_bytes() const { return presumed_bytes_; }
  /// Of packets neither presumed delivered nor found lost, that have left the path either way.
  [[nodiscard]] std::uint64_t gone_bytes() const { return gone_bytes_; }

 private:
  static constexpr int kMaxPatience = 4;  // guess: timeouts, for what was sent often

  struct Run {
    std::size_t packets = 1;
    bool asks = false;  // one packet, so that the peer says how far it has come in the run before
  };

  [[nodiscard]] Run next_run(PacketIndex oldest);
  void take_back_gone(SentPacket& packet) {
    if (std::exchange(packet.gone, false)) gone_bytes_ -= packet.bytes;
  }

  std::uint64_t presumed_bytes_ = 0;
  PacketIndex presumed_end_ = 0;  // the peer's NAKs have spoken of what is before
  std::uint64_t gone_bytes_ = 0;
  PacketIndex run_end_ = 0;   // the first missing packet behind the last run
  PacketIndex last_end_ = 0;  // behind what was marked last, a run or an asker
  std::size_t run_packets_ = 1;
  bool nak_was_lost_ = false;  // of the run before run_end_: no NAK has named its packets
};

template <typename Mark>
bool LossGuess::suspect(const Flight& flight, TimePoint now, Duration timeout, Mark mark) {
  if (!misses_oldest(flight)) return false;
  const auto overdue = [&](const SentPacket& packet) {
    return !packet.waits_for_repair && now - packet.sent_at >= timeout * std::clamp(packet.sends - 1, 1, kMaxPatience);
  };
  const PacketIndex begin = flight.begin_index();
  if (!overdue(flight[begin])) return false;
  const PacketIndex end = std::min(presumed_end_, flight.end_index());
  // Marking a run takes `presumed` off its packets: when it is sent again, what they were then still counts.
  nak_was_lost_ = flight[begin].presumed || (nak_was_lost_ && begin < run_end_);
  const Run run = next_run(begin);
  PacketIndex index = begin;
  for (std::size_t left = run.packets; left > 0 && index < end && overdue(flight[index]); --left) {
    mark(index++);
    while (index < end && flight[index].presumed && !nak_was_lost_) ++index;
  }
  last_end_ = index;
  if (!run.asks) run_end_ = index;
  return true;
}

///   oldest missing    what has come           what goes next
///   beyond the run    what followed it, too   one packet
///   right behind it   the run, and no more    twice as many
///   within it         some of it              one packet, which asks: libudt answers few only with the next
///   behind the asker  the asker alone         the run again
inline LossGuess::Run LossGuess::next_run(PacketIndex oldest) {
  if (oldest > run_end_) return {.packets = run_packets_ = 1};
  if (oldest == run_end_) return {.packets = run_packets_ = std::min<std::size_t>(2 * run_packets_, kMaxWindowPackets)};
  if (oldest == last_end_) return {.packets = run_packets_};
  return {.packets = 1, .asks = run_packets_ > 1};
}

inline void LossGuess::presume_nak_lost(Flight& flight, TimePoint now, Duration timeout) {
  if (misses_oldest(flight)) return;
  PacketIndex end = flight.begin_index();
  while (end < flight.end_index() && now - flight[end].sent_at >= timeout) ++end;
  presume_delivered(flight, end);
}

inline void LossGuess::presume_delivered(Flight& flight, PacketIndex end) {
  for (PacketIndex index = std::max(presumed_end_, flight.begin_index()); index < std::min(end, flight.end_index());
       ++index) {
    SentPacket& packet = flight[index];
    if (packet.waits_for_repair || packet.sends > 1) continue;
    take_back_gone(packet);
    packet.presumed = true;
    presumed_bytes_ += packet.bytes;
  }
  presumed_end_ = std::max(presumed_end_, end);
}

inline void LossGuess::forget_what_has_left(Flight& flight, TimePoint now, Duration timeout) {
  for (PacketIndex index = flight.begin_index(); index < flight.end_index(); ++index) {
    SentPacket& packet = flight[index];
    if (packet.gone || packet.presumed || packet.waits_for_repair || now - packet.sent_at < timeout) continue;
    packet.gone = true;
    gone_bytes_ += packet.bytes;
  }
}

}  // namespace udtcat::transport::native
