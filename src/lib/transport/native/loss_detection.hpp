// SPDX-License-Identifier: Apache-2.0
/// Which packets are lost: by NAKs, by packets that left later and have arrived, by silence.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "lib/transport/native/congestion/congestion_control.hpp"
#include "lib/transport/native/loss_inference.hpp"
#include "lib/transport/native/packet.hpp"
#include "lib/transport/native/peer.hpp"
#include "lib/transport/native/rtt.hpp"
#include "lib/transport/native/sent_again.hpp"
#include "lib/transport/native/sent_packets.hpp"
#include "lib/transport/native/sequence.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// source: RFC 9002 §6.1, with UDT's NAK in place of the ranges of an ACK
/// Threads: unsynchronised; time is a parameter.
class LossDetection {
 public:
  /// Packets that were found lost, and what congestion control is to be told of them.
  struct Lost {
    std::vector<PacketIndex> packets;
    LossEvent event;
  };

  LossDetection(const PeerTraits& peer, const SequenceSpace& sequences) : peer_(peer), sequences_(sequences) {}

  [[nodiscard]] SentPackets& packets() { return packets_; }
  [[nodiscard]] const SentPackets& packets() const { return packets_; }

  /// The packet has left, and not for the first time.
  void on_sent_again(PacketIndex index) {
    if (peer_.reports_bytes) resent_.on_sent(packets_, index);
  }
  void on_acknowledged_before(PacketIndex next) {
    if (!peer_.reports_bytes) inference_.on_acknowledged_before(packets_, next);
    acked_resent_ = packets_.acknowledge_before(next);
  }
  /// Whether the latest ACK covered a packet that was sent more than once.
  [[nodiscard]] bool acked_resent() const { return acked_resent_; }
  /// See LossInference.
  [[nodiscard]] bool oldest_is_missing() const { return inference_.oldest_is_missing(packets_); }
  /// The packet behind the last gap of a NAK, where its arrival made the peer send that NAK: a plain peer, whose ACKs
  /// stand still while a gap is open, sends the first NAK of a gap at once. None for a packet that was sent again, or
  /// before the last timeout: it may have arrived at any time.
  [[nodiscard]] std::optional<SentPacket> behind_new_gap(std::span<const SequenceRange> list) const;

  /// list   ascends: each packet is looked at once, however long the list is
  [[nodiscard]] Lost on_nak(TimePoint now, std::span<const SequenceRange> list, const RttEstimator& rtt);
  /// Marks packets whose retransmission is lost, or the NAK that named them, where the peer asks once for each gap.
  /// returns   whether there was one
  bool mark_lost_again(TimePoint now, const RttEstimator& rtt, Lost& lost);
  /// Packets whose answer was due keep no lost one from leaving.
  /// returns   when the answer to the next is due; TimePoint::max(): the peer reports what is in flight
  TimePoint expire_unanswered(TimePoint now, const RttEstimator& rtt);
  /// Marks packets that are known to be missing where a packet that left later, at `latest_sent_at`, has arrived:
  ///   behind `highest`, the highest that has arrived   where the end of a flight is lost and many packets wait to be
  ///                                                    sent again, no NAK names that end for long
  ///   the oldest, where it was sent again              the peer's ACK stands at it
  /// Those between may have arrived: NAKs tell.
  void mark_overtaken(PacketIndex highest, TimePoint latest_sent_at, TimePoint now, const RttEstimator& rtt,
                      Lost& lost);
  /// A probe is due, and packets are in flight. The newest makes the peer tell what it misses before it; the oldest is
  /// what it waits for.
  void mark_probes(TimePoint now, const RttEstimator& rtt, Lost& lost);

  /// Congestion control is told of `lost`.
  [[nodiscard]] LossEvent event_of(TimePoint now, const Lost& lost);
  /// Congestion control was told of a timeout: what had left before is no further sign of congestion.
  void on_timeout(TimePoint now) { timed_out_at_ = now; }
  /// The path has lost packets lately.
  [[nodiscard]] bool has_lost_lately(TimePoint now) const;

 private:
  [[nodiscard]] bool may_be_missed(TimePoint now, const SentPacket& packet, const RttEstimator& rtt) const;
  void mark_lost(TimePoint now, PacketIndex index, const RttEstimator& rtt, Lost& lost);

  const PeerTraits& peer_;
  const SequenceSpace sequences_;
  SentPackets packets_;
  LossInference inference_;        // where the peer reports no bytes
  SentAgain resent_;               // where it does, without those that mark_overtaken() has looked at
  bool acked_resent_ = false;      // see acked_resent()
  PacketIndex overtaken_end_ = 0;  // mark_overtaken() has looked at all packets before this one
  TimePoint latest_sent_at_{};     // of the packets that have arrived, where the peer tells
  TimePoint epoch_at_{};           // RFC 9002's congestion_recovery_start_time; zero: nothing was lost yet
  TimePoint timed_out_at_{};
  TimePoint nak_budget_since_{};
  std::size_t nak_budget_packets_ = 0;  // that NAKs may still name, until a round trip after nak_budget_since_
};

}  // namespace udtcat::transport::native
