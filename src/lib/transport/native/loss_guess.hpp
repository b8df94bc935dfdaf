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
  /// The oldest packet is missing: the peer asked for one beyond it.
  [[nodiscard]] bool misses_oldest(const Flight& flight) const {
    return !flight.empty() && presumed_end_ > flight.begin_index();
  }
  /// Calls `mark` with each packet to be taken for lost again. A copy that is still missed a round trip later is lost,
  /// or its NAK was; and where one is, others may be that were sent by then: twice as many each time, so that a burst
  /// of losses is over in a few round trips. On suspicion a packet is sent once: at the worst as much again as was
  /// lost.
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
  static constexpr std::size_t kProofs =
      8;  // guess: four are lost again before others are suspected, or 5 % of loss costs a lot
  static constexpr int kMaxPatience = 4;  // guess: round trips, for what was sent often

  void take_back_gone(SentPacket& packet) {
    if (std::exchange(packet.gone, false)) gone_bytes_ -= packet.bytes;
  }

  std::uint64_t presumed_bytes_ = 0;
  PacketIndex presumed_end_ = 0;  // the peer's NAKs have spoken of what is before
  std::uint64_t gone_bytes_ = 0;
  PacketIndex suspected_end_ = 0;  // of the burst that the suspects are of
  std::size_t suspects_ = 1;       // how many copies to send once more when one is found lost again, times kProofs
};

template <typename Mark>
bool LossGuess::suspect(const Flight& flight, TimePoint now, Duration timeout, Mark mark) {
  if (!misses_oldest(flight)) return false;
  const auto overdue = [&](const SentPacket& packet) {
    return !packet.waits_for_repair && now - packet.sent_at >= timeout * std::clamp(packet.sends - 1, 1, kMaxPatience);
  };
  const PacketIndex begin = flight.begin_index();
  if (!overdue(flight[begin])) return false;
  if (begin >= suspected_end_) {  // another burst
    suspects_ = 1;
    suspected_end_ = presumed_end_;
  }
  std::size_t left = std::max<std::size_t>(suspects_ / kProofs, 1);
  suspects_ = std::min<std::size_t>(2 * suspects_, kMaxWindowPackets);
  for (PacketIndex index = begin; index < std::min(presumed_end_, flight.end_index()) && left > 0; ++index) {
    const SentPacket& packet = flight[index];
    if (index > begin && (packet.presumed || packet.sends != 2 || !overdue(packet))) continue;
    mark(index);
    --left;
  }
  return true;
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
