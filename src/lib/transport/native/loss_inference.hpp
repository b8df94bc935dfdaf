// SPDX-License-Identifier: Apache-2.0
/// Which packets have arrived, and which are lost again, where the peer does not tell.
#pragma once

#include <algorithm>
#include <cstddef>

#include "lib/transport/native/sent_packets.hpp"
#include "lib/transport/native/sequence.hpp"

namespace udtcat::transport::native {

/// A plain peer asks once for a gap, and its ACKs stand still until the gap is filled. So a packet before the end of a
/// NAK that does not name it is presumed delivered, and one that should have been acknowledged by now is taken for lost
/// again. Not for a peer that reports bytes.
/// Threads: unsynchronised; time is a parameter.
class LossInference {
 public:
  /// A NAK speaks of the packets before `end`: those that no NAK has named have arrived, since the peer sees a gap by
  /// the packet behind it.
  void presume_delivered(SentPackets& packets, PacketIndex end);
  /// A NAK has spoken of `index`.
  [[nodiscard]] bool nak_covers(PacketIndex index) const { return index < nak_end_; }
  /// An ACK that moved with a retransmission stops at a packet that was sent before and that no NAK has named: that NAK
  /// was lost, and may have spoken of all that had left by then.
  void presume_nak_lost(SentPackets& packets, TimePoint now, Duration timeout);
  /// All packets before `next`, which are still there, are acknowledged now.
  void on_acknowledged_before(const SentPackets& packets, PacketIndex next);
  /// The oldest packet is missing: a NAK has spoken of one beyond it.
  [[nodiscard]] bool oldest_is_missing(const SentPackets& packets) const {
    return !packets.empty() && nak_end_ > packets.begin_index();
  }
  /// Calls `mark_lost` with the index of each packet to be sent again: the oldest, if it is missing a round trip after
  /// it was sent last, because then that copy is lost, or the NAK was. Where an ACK stops right behind the packets that
  /// were marked before, a whole burst is lost, and twice as many are marked; where it moves beyond, as many fewer as
  /// had arrived there.
  /// returns   whether there was one
  template <typename MarkLost>
  bool mark_lost_again(const SentPackets& packets, TimePoint now, Duration timeout, MarkLost mark_lost);
  /// Packets sent longer than `timeout` ago, which is when their answer was due, count as in flight no more.
  /// returns   when the answer to the next is due; TimePoint::max(): none is in flight
  static TimePoint expire_unanswered(SentPackets& packets, TimePoint now, Duration timeout);

 private:
  static constexpr int kMaxTimeouts = 4;  // guess: to wait for, where a packet was sent often

  struct Run {
    std::size_t packets = 1;
    bool is_probe = false;  // one packet, by whose ACK the peer shows how far it has come within the run before
  };

  [[nodiscard]] Run next_run(PacketIndex oldest);

  PacketIndex nak_end_ = 0;         // NAKs have spoken of all packets before this one
  PacketIndex run_end_ = 0;         // the first missing packet behind the last run
  PacketIndex last_end_ = 0;        // the first packet behind those marked last, a run or a probe
  std::size_t run_packets_ = 0;     // of the last run; none: what the NAKs have named has arrived since
  std::size_t arrived_beyond_ = 0;  // of packets that might have been lost again as the last run was
  bool nak_was_lost_ = false;       // of the run before run_end_: no NAK has named its packets
};

template <typename MarkLost>
bool LossInference::mark_lost_again(const SentPackets& packets, TimePoint now, Duration timeout, MarkLost mark_lost) {
  if (!oldest_is_missing(packets)) return false;
  const auto overdue = [&](const SentPacket& packet) {
    return !packet.lost && now - packet.sent_at >= timeout * std::clamp(packet.sends - 1, 1, kMaxTimeouts);
  };
  const PacketIndex begin = packets.begin_index();
  if (!overdue(packets.oldest())) return false;
  const PacketIndex end = std::min(nak_end_, packets.end_index());
  // mark_lost() ends the presumption of a packet: nak_was_lost_ keeps it for the next time that the run is marked.
  nak_was_lost_ = packets.oldest().presumed_delivered || (nak_was_lost_ && begin < run_end_);
  const Run run = next_run(begin);
  PacketIndex index = begin;
  for (std::size_t left = run.packets; left > 0 && index < end && overdue(packets[index]); --left) {
    mark_lost(index++);
    while (index < end && packets[index].presumed_delivered && !nak_was_lost_) ++index;
  }
  last_end_ = index;
  arrived_beyond_ = 0;
  if (!run.is_probe) run_end_ = index;
  return true;
}

///   oldest missing    what has arrived        what is sent next
///   beyond the run    what followed it, too   twice as many, less what had arrived there; one at least
///   right behind it   the run, and no more    twice as many
///   within it         some of it              one packet, a probe: libudt answers few only with the next
///   behind the probe  the probe alone         the run again
inline LossInference::Run LossInference::next_run(PacketIndex oldest) {
  if (oldest >= run_end_) {
    const std::size_t doubled = std::clamp<std::size_t>(2 * run_packets_, 1, kMaxWindowPackets);
    return {.packets = run_packets_ = doubled - std::min(arrived_beyond_, doubled - 1)};
  }
  if (oldest == last_end_) return {.packets = run_packets_};
  return {.packets = 1, .is_probe = run_packets_ > 1};
}

inline void LossInference::on_acknowledged_before(const SentPackets& packets, PacketIndex next) {
  for (PacketIndex index = std::max(run_end_, packets.begin_index()); index < std::min(next, nak_end_); ++index)
    if (packets[index].sends > 1 || nak_was_lost_) ++arrived_beyond_;
  if (next > nak_end_) run_packets_ = 0;
}

inline void LossInference::presume_nak_lost(SentPackets& packets, TimePoint now, Duration timeout) {
  if (oldest_is_missing(packets)) return;
  PacketIndex end = packets.begin_index();
  while (end < packets.end_index() && now - packets[end].sent_at >= timeout) ++end;
  presume_delivered(packets, end);
}

inline void LossInference::presume_delivered(SentPackets& packets, PacketIndex end) {
  for (PacketIndex index = std::max(nak_end_, packets.begin_index()); index < std::min(end, packets.end_index());
       ++index) {
    if (!packets[index].lost && packets[index].sends <= 1) packets.presume_delivered(index);
  }
  nak_end_ = std::max(nak_end_, end);
}

inline TimePoint LossInference::expire_unanswered(SentPackets& packets, TimePoint now, Duration timeout) {
  TimePoint next = TimePoint::max();
  for (PacketIndex index = packets.begin_index(); index < packets.end_index(); ++index) {
    const SentPacket& packet = packets[index];
    const bool in_flight = !packet.lost && !packet.presumed_delivered && !packet.expired;
    if (!in_flight) continue;
    const TimePoint due = packet.sent_at + timeout;
    due <= now ? packets.expire(index) : void(next = std::min(next, due));
  }
  return next;
}

}  // namespace udtcat::transport::native
