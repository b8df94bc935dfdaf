// SPDX-License-Identifier: Apache-2.0
/// The two kinds of peer, and how they differ.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "lib/transport/native/acknowledgement.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// Known from the handshake on.
enum class PeerKind {
  plain,  ///< any UDT4 program; the constants are libudt's
  own,    ///< one of ours: it understands docs/spec/udt4.md §9
};

/// Logic asks these, and does not compare kinds.
/// Threads: immutable.
struct PeerTraits {
  /// It understands path challenges, MTU probes, fragments and tokens (udt4.md §9): packets are sent with DF.
  bool extended;
  std::size_t keep_alive_words;  ///< such that the stateless reset which may answer it is no larger

  // ---- As the receiver of our data

  /// Its ACKs say how many bytes have arrived and for how many there is room. A peer that does not asks once for a gap,
  /// and what it has is inferred (LossInference).
  bool reports_bytes;
  std::uint32_t ack_packets;      ///< until so many packets have come it may send no ACK; 0: an ACK at once
  Duration ack_wait;              ///< and for so long
  Duration longest_probe_gap;     ///< between two probes into silence, or
  int longest_probe_gap_rtts;     ///< so many smoothed round trips, or
  int longest_probe_gap_answers;  ///< so many times as an answer may take
  bool holds_full_packets;        ///< it keeps a full packet to itself until another comes or 100 ms are over
  std::uint32_t
      message_flags;  ///< of the message word of a whole packet, which then counts messages; 0: no word is needed

  // ---- As the sender of data to us

  bool sends_trains;  ///< at a pace of its own: arrivals are counted, not timed; and it wants to hear of each train
  Duration duplicate_ack_delay;        ///< until it is told again of what came twice
  Duration least_nak_gap;              ///< between a NAK and its repeat
  std::uint32_t prompt_naks;           ///< repeats that come as soon as a retransmission could have, for each gap
  bool wakes_by_progress;              ///< where our buffer is full, only an ACK that moves wakes it again
  std::size_t most_window_unit_bytes;  ///< a packet of the announced window brings no more
};

inline constexpr PeerTraits kPlainPeer{
    .extended = false,
    .keep_alive_words = 1,
    .reports_bytes = false,
    .ack_packets = kLightAckPackets,
    .ack_wait = std::chrono::milliseconds(110),  // measured: libudt's idle sweep
    .longest_probe_gap =
        std::chrono::milliseconds(300),  // spec: UDT4, least EXP; the end of an outage is noticed so soon
    .longest_probe_gap_rtts = 0,
    .longest_probe_gap_answers = 2,
    .holds_full_packets = true,
    .message_flags = 0xc000'0000,  // spec: UDT4, a lone packet: what a reader of captures expects; libudt ignores it
    .sends_trains = false,
    .duplicate_ack_delay = kSyn,
    .least_nak_gap = std::chrono::milliseconds(100),  // spec: udt4.md §6: a libudt sender slows down at each
    .prompt_naks = 0,                                 // spec: udt4.md §12
    .wakes_by_progress = true,
    .most_window_unit_bytes = SIZE_MAX};

inline constexpr PeerTraits kOwnPeer{
    .extended = true,
    .keep_alive_words = 2,
    .reports_bytes = true,
    .ack_packets = 0,
    .ack_wait = kSyn,
    .longest_probe_gap = std::chrono::milliseconds(50),  // guess: 60 kB/s into an outage
    .longest_probe_gap_rtts = 3,
    .longest_probe_gap_answers = 0,
    .holds_full_packets = false,
    .message_flags = 0,
    .sends_trains = true,
    .duplicate_ack_delay = std::chrono::milliseconds(1),  // guess: well above what a timer costs
    .least_nak_gap =
        std::chrono::milliseconds(10),  // guess: besides the round trip, for what waits in the sender's queue
    .prompt_naks = 3,                   // guess: at 1 % loss one packet in 10^10 needs more
    .wakes_by_progress = false,
    .most_window_unit_bytes = 1216};  // spec: udt4.md §9: 1280 less the headers of IPv6, UDP and UDT

[[nodiscard]] constexpr const PeerTraits& traits_of(PeerKind kind) {
  return kind == PeerKind::own ? kOwnPeer : kPlainPeer;
}

}  // namespace udtcat::transport::native
