// SPDX-License-Identifier: Apache-2.0
/// The sending half of a connection: makes packets of the stream, decides when each leaves, and sends lost ones again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <udtcat/known_paths.hpp>

#include "lib/core/shared_bytes.hpp"
#include "lib/core/stats_clocks.hpp"
#include "lib/transport/native/acknowledgement.hpp"
#include "lib/transport/native/delivery_rate.hpp"
#include "lib/transport/native/echo_log.hpp"
#include "lib/transport/native/flow_window.hpp"
#include "lib/transport/native/loss_detection.hpp"
#include "lib/transport/native/packet.hpp"
#include "lib/transport/native/path_estimator.hpp"
#include "lib/transport/native/peer.hpp"
#include "lib/transport/native/probe_timeout.hpp"
#include "lib/transport/native/rate_control.hpp"
#include "lib/transport/native/send_queue.hpp"
#include "lib/transport/native/sender_counters.hpp"
#include "lib/transport/native/sent_packets.hpp"
#include "lib/transport/native/sequence.hpp"
#include "lib/transport/native/train_builder.hpp"
#include "lib/transport/native/train_probe.hpp"

namespace udtcat::transport::native {

/// A first packet of data that has left with the handshake.
struct HandshakeData {
  core::SharedBytes bytes;
  TimePoint clock_zero;  ///< timestamps count from here
  TimePoint sent_at;     ///< the last time
};

/// Lost packets leave before new data; both within the congestion window, the pacing rate, the flow window and the
/// memory. A packet is sent again if a NAK names it, LossDetection finds it lost, or the probe timeout ends: then the
/// oldest and the newest are, and the peer tells of those between.
/// Threads: unsynchronised; time is a parameter.
class UdtSender {
 public:
  struct Settings {
    PeerKind peer = PeerKind::plain;
    std::uint32_t initial_sequence = 0;
    std::uint32_t peer_id = 0;
    std::uint32_t window_packets = 0;  ///< the peer's flow window, of the handshake
    std::size_t payload_bytes = 0;     ///< of a full packet, at first
    std::uint64_t memory_bytes = 0;    ///< the most that may be sent and not acknowledged
    CongestionKind congestion = CongestionKind::bbr;
    BitRate rate_cap;
    std::uint32_t random_seed = 0;
    TimePoint started;       ///< timestamps count from here, unless handshake_data says otherwise
    TimePoint hold_until{};  ///< nothing leaves before
    std::optional<HandshakeData> handshake_data{};
    std::optional<KnownPath> known_path{};
    std::optional<SmallRtt> first_rtt{};
    std::shared_ptr<FlowGroup> group{};  ///< see CongestionSettings
  };

  explicit UdtSender(const Settings& settings);

  void write(core::SharedBytes bytes) { queue_.push(std::move(bytes)); }
  /// Offset in the stream past the last byte written.
  [[nodiscard]] std::uint64_t written_offset() const { return queue_.end_offset(); }
  /// Offset in the stream past the last byte that has left at least once.
  [[nodiscard]] std::uint64_t sent_offset() const { return packets().sent_offset(); }
  /// Offset in the stream of the first byte that is not acknowledged.
  [[nodiscard]] std::uint64_t acknowledged_offset() const { return packets().acknowledged_offset(); }
  /// Offset in the stream of the first byte that no full or medium ACK has acknowledged: at a SHUTDOWN libudt discards
  /// data that only a light one has.
  [[nodiscard]] std::uint64_t fully_acknowledged_offset() const { return fully_acknowledged_offset_; }
  [[nodiscard]] bool all_acknowledged() const { return fully_acknowledged_offset_ == queue_.end_offset(); }
  /// Whether a short message that is written now would wait here or at the peer: behind much data, or for a
  /// retransmission.
  [[nodiscard]] bool would_wait(TimePoint now) const;
  /// See Channel. Before anything is delivered the window is all that leaves, and the pacing rate a guess.
  [[nodiscard]] std::uint64_t ahead_bytes() const {
    return delivered_bytes() > 0 ? rate_.pacer().ahead_bytes(payload_bytes_) : rate_.window_bytes();
  }

  /// An ACK or NAK that cannot be true is ignored: it may be forged.
  void on_ack(TimePoint now, Acknowledgement ack);
  void on_nak(TimePoint now, std::span<const SequenceRange> list);

  /// Fills an empty builder with the next train.  returns   whether there is one that may leave now
  [[nodiscard]] bool poll_train(TimePoint now, TrainBuilder& builder);
  /// When poll_train() or handle_timeout() will have something to do, if nothing happens before.
  [[nodiscard]] std::optional<TimePoint> deadline(TimePoint now) const;
  void handle_timeout(TimePoint now);

  void set_payload_bytes(std::size_t payload_bytes);
  [[nodiscard]] std::size_t payload_bytes() const { return payload_bytes_; }
  /// Packets larger than `payload_bytes` are never acknowledged, however often they are sent.
  [[nodiscard]] bool suspects_black_hole(TimePoint now, std::size_t payload_bytes) const;
  /// See PathEstimator.
  void note_small_rtt(TimePoint now, const SmallRtt& rtt);
  /// See PathEstimator.
  [[nodiscard]] Duration answer_time() const;
  /// See PathEstimator.
  [[nodiscard]] Duration most_wire_time(std::size_t bytes) const {
    return path_.most_wire_time(rate_.path_rate(), bytes);
  }
  /// A packet has come from the peer.
  void on_heard() { probe_.on_heard(); }
  /// Probes in a row without an answer.
  [[nodiscard]] std::uint32_t unanswered_probes() const { return probe_.count(); }
  /// Since when nothing was acknowledged of the packets that the flow window has room for; none: all of those are.
  [[nodiscard]] std::optional<TimePoint> unanswered_since() const;
  /// Another path: what was learned of the one before does not count.
  void on_new_path(TimePoint now);

  /// For the next connection; none: too little was sent.
  [[nodiscard]] std::optional<KnownPath> known_path() const { return rate_.known_path(); }

  /// See TrainProbe.
  [[nodiscard]] bool trains_off() const { return train_probe_.off(); }
  [[nodiscard]] const RttEstimator& rtt() const { return path_.rtt(); }
  [[nodiscard]] const TransportStats& stats() const { return counters_.stats(); }
  [[nodiscard]] std::uint64_t in_flight_bytes() const { return packets().in_flight_bytes(); }
  /// See SentPackets.
  [[nodiscard]] std::uint64_t delivered_bytes() const { return packets().delivered_bytes(); }
  /// Adds what the sender knows.
  void add_end_stats(TimePoint now, EndStats& end) const;

 private:
  enum class Work { retransmission, copy, new_data, none };

  [[nodiscard]] SentPackets& packets() { return losses_.packets(); }
  [[nodiscard]] const SentPackets& packets() const { return losses_.packets(); }

  // Trains
  [[nodiscard]] bool compose_train(TimePoint now, TrainBuilder& builder);
  [[nodiscard]] Work next_work() const;
  [[nodiscard]] bool may_send(std::size_t bytes) const;
  void make_room_for_lost(TimePoint now);
  [[nodiscard]] std::uint64_t arrived_unheard_bytes() const { return path_.arrived_unheard_bytes(rate_.path_rate()); }
  [[nodiscard]] std::uint64_t window_bytes() const { return rate_.window_bytes() + arrived_unheard_bytes(); }
  [[nodiscard]] std::size_t next_new_bytes() const;
  [[nodiscard]] bool fits_memory(std::size_t bytes) const;
  [[nodiscard]] bool within_peer_window(std::size_t bytes) const;
  [[nodiscard]] std::size_t train_limit() const;
  void add_retransmissions(TimePoint now, TrainBuilder& builder, std::size_t limit);
  void copy_where_worth_it(PacketIndex index);
  void add_copies(TimePoint now, TrainBuilder& builder);
  void add_new_train(TimePoint now, TrainBuilder& builder);
  void add_new_data(TimePoint now, TrainBuilder& builder);
  void add_handshake_data(const HandshakeData& words);
  void add_packet(TimePoint now, PacketIndex index, TrainBuilder& builder);
  void add_fragment(TimePoint now, PacketIndex index, TrainBuilder& builder);
  void note_sent(TimePoint now, PacketIndex index);
  [[nodiscard]] std::uint32_t timestamp_us(TimePoint now) const { return native::timestamp_us(now, clock_zero_); }
  [[nodiscard]] DataHeader header_of(TimePoint now, PacketIndex index, std::uint32_t message) const;

  // Acknowledgements
  [[nodiscard]] bool peer_has_room_for_oldest() const;
  [[nodiscard]] bool plausible(PacketIndex next, const Acknowledgement& ack) const;
  void acknowledge_before(TimePoint now, PacketIndex next);
  void take_rtt(TimePoint now, const Acknowledgement& ack, const std::optional<SentPacket>& newest);
  [[nodiscard]] bool note_overloads(std::uint32_t count);
  void note_delivery(TimePoint now, const std::optional<SentPacket>& newest, const Acknowledgement& ack,
                     bool had_waited);

  // Losses
  void take_rtt_of_gap(TimePoint now, const SentPacket& behind);
  void mark_lost_again(TimePoint now, LossDetection::Lost& lost);
  [[nodiscard]] bool take_losses(TimePoint now, const LossDetection::Lost& lost);
  void report(TimePoint now, const LossDetection::Lost& lost);
  void probe(TimePoint now);
  void arm_probe(TimePoint now);

  /// Why nothing leaves; none: all that was written has left.
  [[nodiscard]] std::optional<StallReason> stall_reason(bool sending) const;

  const Settings settings_;
  const PeerTraits& peer_;
  const SequenceSpace sequences_;
  const TimePoint clock_zero_;
  std::size_t payload_bytes_;
  SendQueue queue_;
  std::vector<PacketIndex> copies_;  // of packets sent again: they go once more, in a train behind
  struct Fragments {
    PacketIndex index = 0;
    std::uint32_t sent_bytes = 0;
  };
  Fragments fragments_;  // of the packet that is sent again in fragments, the last of which has not left yet
  FlowWindow window_;
  RateControl rate_;
  LossDetection losses_;
  TrainProbe train_probe_;

  PathEstimator path_;
  DeliveryRate delivery_;
  EchoLog echoes_;                    // of packets to a peer that reports bytes
  std::uint32_t peer_overloads_ = 0;  // as the peer last said
  std::uint64_t fully_acknowledged_offset_ = 0;
  TimePoint answered_at_{};                  // the last progress, or since when there is something to answer
  TimePoint large_delivered_at_{};           // when a full packet was last known to have arrived
  TimePoint expires_at_ = TimePoint::max();  // a packet in flight, where a lost one waits for room in the window
  ProbeTimeout probe_;
  SenderCounters counters_;
};

}  // namespace udtcat::transport::native
