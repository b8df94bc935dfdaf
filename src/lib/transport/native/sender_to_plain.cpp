// Repair towards a plain peer, which asks once for a gap, of class Sender.
#include <algorithm>
#include <utility>

#include "lib/transport/native/sender.hpp"

namespace udtcat::transport::native {

namespace {

constexpr std::size_t kUrgentPackets =
    2;  // guess: of what was found lost again, so many leave whatever the window says
constexpr std::size_t kProofs =
    8;                            // guess: four are lost again before others are suspected, or 5 % of loss costs a lot
constexpr int kMostPatience = 4;  // guess: round trips, for what was sent often

}  // namespace

/// A gap shows by the packet behind it. What lies before that and is not asked for has arrived: a plain peer's ACKs, which stand still
/// until the gap is filled, do not say so.
void Sender::presume_delivered(PacketIndex end) {
  for (PacketIndex index = std::max(presumed_end_, packets_.begin_index()); index < std::min(end, packets_.end_index());
       ++index) {
    SentPacket& packet = packets_[index];
    if (packet.waits_for_repair || packet.sends > 1) continue;
    count_in_again(packet);
    packet.presumed = true;
    presumed_bytes_ += packet.bytes;
  }
  presumed_end_ = std::max(presumed_end_, end);
}

/// A plain peer has what lies behind it: it asked for a packet beyond.
bool Sender::oldest_is_known_to_miss() const {
  return settings_.peer == PeerKind::plain && !packets_.empty() && presumed_end_ > packets_.begin_index();
}

/// libudt asks once. A copy that it still waits for a round trip later is lost too, or its NAK was; and where one is, others may be that
/// were sent by then, of which no ACK can tell: twice as many each time, so that a burst of losses is over in a few round trips.
/// On suspicion a packet is sent once: at the worst as much again as was lost.
void Sender::mark_lost_again(TimePoint now, LossEvent& event) {
  if (!oldest_is_known_to_miss()) return;
  const auto overdue = [&](const SentPacket& packet) {
    return !packet.waits_for_repair &&
           now - packet.sent_at >= rtt_.timeout() * std::clamp(packet.sends - 1, 1, kMostPatience);
  };
  const PacketIndex begin = packets_.begin_index();
  if (!overdue(packets_[begin])) return;
  if (begin >= suspected_end_) {  // another burst
    suspects_ = 1;
    suspected_end_ = presumed_end_;
  }
  std::size_t left = std::max<std::size_t>(suspects_ / kProofs, 1);
  suspects_ = std::min<std::size_t>(2 * suspects_, kMaxWindowPackets);
  for (PacketIndex index = begin; index < std::min(presumed_end_, packets_.end_index()) && left > 0; ++index) {
    const SentPacket& packet = packets_[index];
    if (index > begin && (packet.presumed || packet.sends != 2 || !overdue(packet))) continue;
    mark_lost(now, index, event);
    --left;
  }
  forget_what_has_left(now);
  exempt_packets_ = exempt_pieces_ = kUrgentPackets;
}

/// A plain peer does not say what has arrived behind a gap. But what was sent longer ago than an answer takes is on the path no more, and
/// keeps no repair from leaving.
void Sender::forget_what_has_left(TimePoint now) {
  for (PacketIndex index = packets_.begin_index(); index < packets_.end_index(); ++index) {
    SentPacket& packet = packets_[index];
    if (packet.gone || packet.presumed || packet.waits_for_repair || now - packet.sent_at < rtt_.timeout()) continue;
    packet.gone = true;
    gone_bytes_ += packet.bytes;
  }
}

void Sender::count_in_again(SentPacket& packet) {
  if (std::exchange(packet.gone, false)) gone_bytes_ -= packet.bytes;
}

}  // namespace udtcat::transport::native
