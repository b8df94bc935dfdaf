// SPDX-License-Identifier: Apache-2.0
/// The sending half of a connection: cuts the stream into packets, decides when each leaves, and sends again what was
/// lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <udtcat/known_paths.hpp>

#include "lib/core/shared_bytes.hpp"
#include "lib/core/stats_clocks.hpp"
#include "lib/transport/native/acknowledgement.hpp"
#include "lib/transport/native/back_delay.hpp"
#include "lib/transport/native/congestion/congestion_control.hpp"
#include "lib/transport/native/delivery_rate.hpp"
#include "lib/transport/native/echo_log.hpp"
#include "lib/transport/native/loss_by_rate.hpp"
#include "lib/transport/native/loss_guess.hpp"
#include "lib/transport/native/pacer.hpp"
#include "lib/transport/native/packet.hpp"
#include "lib/transport/native/peer.hpp"
#include "lib/transport/native/probe_timeout.hpp"
#include "lib/transport/native/rtt.hpp"
#include "lib/transport/native/send_queue.hpp"
#include "lib/transport/native/sequence.hpp"
#include "lib/transport/native/train_builder.hpp"
#include "lib/transport/native/train_length.hpp"
#include "lib/transport/native/train_trial.hpp"

namespace udtcat::transport::native {

/// A first packet that has left with the handshake.
struct FirstWords {
  core::SharedBytes bytes;
  TimePoint clock_zero;  ///< of its timestamp, and of those that follow
  TimePoint sent_at;     ///< the last time
};

/// A round trip of packets so small that the length of the path is nearly all of it: of a handshake, of an ACK and its
/// ACK2, or of a small question.
struct SmallRtt {
  Duration value;
  std::size_t bytes = 0;  ///< of both packets, on the wire
};

/// Repairs leave before new data; both within the congestion window, the pacing rate, the peer's window and our memory.
/// A packet is sent again only if the peer asked for it, or the probe timeout finds it unanswered: the oldest and the
/// newest, and the peer tells of those between; or LossGuess suspects it.
/// Threads: unsynchronised; time is a parameter.
class UdtSender {
 public:
  struct Settings {
    PeerKind peer = PeerKind::plain;
    std::uint32_t initial_sequence = 0;
    std::uint32_t peer_id = 0;
    std::uint32_t window_packets = 0;  ///< the peer's, from the handshake
    std::size_t payload_bytes = 0;     ///< of a full packet, at first
    std::uint64_t memory_bytes = 0;    ///< most that may be sent and not acknowledged
    CongestionKind congestion = CongestionKind::bbr;
    BitRate rate_cap;
    std::uint32_t random_seed = 0;
    TimePoint started;       ///< timestamps count from here, unless first words had begun to
    TimePoint hold_until{};  ///< nothing leaves before
    std::optional<FirstWords> first_words{};
    std::optional<KnownPath> known_path{};
    std::optional<SmallRtt> first_rtt{};
  };

  explicit UdtSender(const Settings& settings);

  void write(core::SharedBytes bytes) { queue_.push(std::move(bytes)); }
  /// Offset in the stream past the last byte written.
  [[nodiscard]] std::uint64_t written_offset() const { return queue_.end_offset(); }
  /// Everything before this offset of the stream has left at least once.
  [[nodiscard]] std::uint64_t sent_offset() const { return sent_offset_; }
  /// And everything before this one is acknowledged.
  [[nodiscard]] std::uint64_t acknowledged_offset() const;
  /// And everything before this one by a full or medium ACK: at a SHUTDOWN libudt throws away what only a light one
  /// covers.
  [[nodiscard]] std::uint64_t kept_offset() const { return kept_offset_; }
  [[nodiscard]] bool all_kept() const { return kept_offset_ == queue_.end_offset(); }
  /// Whether a word that is written now would wait at the peer, or here: much is before it, or a repair may be.
  [[nodiscard]] bool would_wait(TimePoint now) const;
  /// See Channel. Before anything is delivered the window is all that leaves, and the pace a guess.
  [[nodiscard]] std::uint64_t ahead_bytes() const {
    return delivered_bytes() > 0 ? pacer_.ahead_bytes(payload_bytes_) : congestion_->window_bytes();
  }

  /// The peer's word on our packets. A word that cannot be true is ignored: anyone may have sent it.
  void on_ack(TimePoint now, const Acknowledgement& ack);
  void on_nak(TimePoint now, std::span<const SequenceRange> list);

  /// Fills an empty builder with the next train.  returns   whether there is one that may leave now
  [[nodiscard]] bool poll_train(TimePoint now, TrainBuilder& builder);
  /// When poll_train() or handle_timeout() will have something to do, if nothing happens before.
  [[nodiscard]] std::optional<TimePoint> deadline(TimePoint now) const;
  void handle_timeout(TimePoint now);

  void set_payload_bytes(std::size_t payload_bytes);
  [[nodiscard]] std::size_t payload_bytes() const { return payload_bytes_; }
  /// Packets larger than `payload_bytes` go unanswered, however often they are sent.
  [[nodiscard]] bool suspects_black_hole(TimePoint now, std::size_t payload_bytes) const;
  /// A round trip of small packets: taken as the first sample where none of data is known yet, else ignored.
  void note_small_rtt(TimePoint now, const SmallRtt& rtt);
  /// By when the answer to what leaves now is late.
  [[nodiscard]] Duration answer_time() const;
  /// The most that the wire may take for a packet, as far as it is known.
  [[nodiscard]] Duration most_wire_time(std::size_t bytes) const;
  /// Anything at all came from the peer.
  void on_heard() { probe_.on_heard(); }
  /// Timeouts in a row without an answer.
  [[nodiscard]] std::uint32_t unanswered_probes() const { return probe_.count(); }
  /// Since when nothing was acknowledged of what the peer has said to have room for; none where nothing of that is
  /// unacknowledged.
  [[nodiscard]] std::optional<TimePoint> unanswered_since() const;
  /// Another path: nothing that was learned of the old one counts.
  void on_new_path(TimePoint now);

  /// The path as this connection knows it; none: too little was sent.
  [[nodiscard]] std::optional<KnownPath> known_path() const { return congestion_->known_path(); }

  /// The path loses trains: see TrainTrial.
  [[nodiscard]] bool trains_off() const { return trial_.off(); }
  [[nodiscard]] const RttEstimator& rtt() const { return rtt_; }
  /// The packets that it sends.
  [[nodiscard]] const TransportStats& stats() const { return stats_; }
  [[nodiscard]] std::uint64_t in_flight_bytes() const;
  /// How many have come to the peer, in any order, as far as it is known.
  [[nodiscard]] std::uint64_t delivered_bytes() const;
  /// Adds what the sender knows.
  void add_end_stats(TimePoint now, EndStats& end) const;

 private:
  enum class Turn { repair, copy, new_data, nothing };

  [[nodiscard]] std::unique_ptr<CongestionControl> new_congestion_control(TimePoint now) const;

  // Acknowledgements
  [[nodiscard]] bool peer_has_room_for_oldest() const;
  [[nodiscard]] bool plausible(PacketIndex next, const Acknowledgement& ack) const;
  void take_windows(PacketIndex next, const Acknowledgement& ack);
  void pop_acknowledged(PacketIndex next);
  void take_rtt(TimePoint now, const Acknowledgement& ack, const std::optional<SentPacket>& newest);
  [[nodiscard]] bool note_overloads(std::uint32_t count);
  void note_delivery(TimePoint now, const std::optional<SentPacket>& newest, const Acknowledgement& ack,
                     bool had_waited);

  // Losses
  [[nodiscard]] std::optional<SentPacket> behind_new_gap(std::span<const SequenceRange> list) const;
  void take_rtt_of_gap(TimePoint now, const SentPacket& behind);
  [[nodiscard]] bool may_be_missed(TimePoint now, const SentPacket& packet) const {
    return now - packet.sent_at >= rtt_.minimum().value_or(Duration::zero());
  }
  void mark_lost(TimePoint now, PacketIndex index, LossEvent& event);
  void mark_lost_again(TimePoint now, LossEvent& event);
  void mark_overtaken(TimePoint now, PacketIndex highest, std::uint32_t echo_us, LossEvent& event);
  void report(TimePoint now, LossEvent event);
  void probe(TimePoint now);
  void arm_probe(TimePoint now);
  [[nodiscard]] Duration wire_time(std::size_t bytes) const;
  [[nodiscard]] Duration more_wire_time(std::size_t bytes) const;
  [[nodiscard]] Duration share_of_rtt(std::size_t bytes) const;
  [[nodiscard]] BitRate shown_rate() const;

  // Statistics (udt_sender_stats.cpp)
  [[nodiscard]] bool at_rate_cap() const;
  [[nodiscard]] bool rtt_shows_queue() const;
  void count_loss(const SentPacket& packet);
  [[nodiscard]] std::optional<StallReason> stall_reason(bool sending) const;

  // Trains (udt_sender_trains.cpp)
  [[nodiscard]] bool compose_train(TimePoint now, TrainBuilder& builder);
  void add_first_words(const FirstWords& words);
  [[nodiscard]] std::uint32_t timestamp_us(TimePoint now) const { return native::timestamp_us(now, clock_zero_); }
  [[nodiscard]] Turn next_turn() const;
  [[nodiscard]] bool may_send(std::size_t bytes) const;
  [[nodiscard]] std::uint64_t window_bytes() const { return congestion_->window_bytes() + arrived_unheard_bytes(); }
  [[nodiscard]] std::uint64_t arrived_unheard_bytes() const;
  [[nodiscard]] std::size_t next_new_bytes() const;
  [[nodiscard]] bool within_peer_window(std::size_t bytes) const;
  [[nodiscard]] std::size_t train_limit() const;
  void add_repairs(TimePoint now, TrainBuilder& builder, std::size_t limit);
  void note_worth_a_copy(PacketIndex index);
  void add_copies(TimePoint now, TrainBuilder& builder);
  void add_new_train(TimePoint now, TrainBuilder& builder);
  void add_new_data(TimePoint now, TrainBuilder& builder);
  void note_train(TimePoint now, PacketIndex first);
  void fit_trains(TimePoint now, const SentPacket& lost);
  void add_packet(TimePoint now, PacketIndex index, TrainBuilder& builder);
  void add_fragment(TimePoint now, PacketIndex index, TrainBuilder& builder);
  void note_sent(TimePoint now, SentPacket& packet);
  [[nodiscard]] DataHeader header_of(TimePoint now, PacketIndex index, std::uint32_t message) const;
  void update_pacing();

  const Settings settings_;
  const PeerTraits& peer_;
  const SequenceSpace sequences_;
  const TimePoint clock_zero_;
  std::size_t payload_bytes_;
  SendQueue queue_;
  IndexedRing<SentPacket> packets_;  // sent and not acknowledged
  IndexRanges repairs_;              // of those, found lost and not sent again
  std::uint64_t repair_bytes_ = 0;   // of repairs_
  std::vector<PacketIndex> copies_;  // repairs that go once more, in a train behind
  std::uint64_t sent_offset_ = 0;
  std::uint32_t fragment_offset_ = 0;  // how far fragment_index_ is sent, in pieces
  PacketIndex fragment_index_ = 0;     // of the packet that was last begun so

  PacketIndex window_end_;                        // the peer takes packets before this one
  std::uint64_t window_end_offset_ = UINT64_MAX;  // and, one of ours, bytes before this
  PacketIndex window_point_ = 0;                  // the ACK that said so
  TimePoint answered_at_{};                       // or the oldest left, or the peer had no room for it

  RttEstimator rtt_;
  BackDelay back_delay_;
  DeliveryRate delivery_;
  PacketIndex overtaken_end_ = 0;  // before this one all have been told apart
  EchoLog echoes_;                 // of packets to one of ours
  Pacer pacer_;
  std::unique_ptr<CongestionControl> congestion_;
  std::uint64_t reported_delivered_bytes_ = 0;  // by one of ours
  std::uint32_t peer_overloads_ = 0;            // as it last said
  std::uint64_t acknowledged_bytes_ = 0;
  std::uint64_t kept_offset_ = 0;
  LossGuess guess_;  // of packets beyond, where the peer does not report bytes
  std::uint64_t lost_bytes_ = 0;
  bool popped_repaired_ = false;  // by the latest ACK: a packet that was sent more than once
  TimePoint loss_epoch_{};
  TimePoint nak_budget_since_{};
  std::size_t nak_budget_packets_ = 0;  // that NAKs may still name, until a round trip after nak_budget_since_
  TimePoint silenced_at_{};             // the last timeout: what had left before it is no sign of congestion

  TrainTrial trial_;
  TrainLength train_length_;
  bool trains_shortened_ = false;  // since the last loss was reported
  ProbeTimeout probe_;
  TimePoint large_delivered_at_{};          // when a full packet was last known to have arrived
  BitRate shown_rate_;                      // the best sample of the delivery; 0: none with enough to send
  std::size_t largest_answered_bytes_ = 0;  // of a packet whose answer was a sample of the round trip
  TransportStats stats_;
  std::uint64_t queued_lost_ = 0;  // of those lost, found so while the smoothed round trip showed a queue
  core::StallClock stall_clock_;
  LossByRateMeter loss_by_rate_;
  std::uint64_t path_changes_ = 0;
};

}  // namespace udtcat::transport::native
