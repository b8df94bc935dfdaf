// SPDX-License-Identifier: Apache-2.0
/// The receiving half of a connection: takes data packets, acknowledges them (ACK), and names those missing (NAK).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/transport/native/arrival_rate.hpp"
#include "lib/transport/native/loss_list.hpp"
#include "lib/transport/native/packet.hpp"
#include "lib/transport/native/peer.hpp"
#include "lib/transport/native/receive_buffer.hpp"
#include "lib/transport/native/rtt.hpp"
#include "lib/transport/native/sequence.hpp"

namespace udtcat::transport::native {

/// Threads: unsynchronised; time is a parameter.
class UdtReceiver {
 public:
  struct Settings {
    PeerKind peer = PeerKind::plain;
    std::uint32_t initial_sequence = 0;
    std::size_t payload_bytes = 0;  ///< of the largest packet that the peer may send
    std::uint64_t limit_bytes = 0;
  };

  UdtReceiver(const Settings& settings, core::ChunkPool& chunks);

  void on_data(TimePoint now, const DataHeader& header, const Arrival& arrival);
  /// returns   the round trip from ACK to ACK2; none: no recent ACK has that number
  std::optional<Duration> on_ack2(TimePoint now, std::uint32_t ack_number);
  /// See OverloadDetector::Share.
  void on_host_overloads(std::uint64_t total) { host_overloads_ = static_cast<std::uint32_t>(total); }

  /// See Channel. An ACK tells the sender that there is more room.
  void trust_peer(TimePoint now);
  [[nodiscard]] std::size_t read(TimePoint now, std::span<std::byte> into);
  [[nodiscard]] std::uint64_t readable_bytes() const { return buffer_.readable_bytes(); }
  /// All packets up to the highest that has arrived have arrived.
  [[nodiscard]] bool has_no_gap() const { return buffer_.next() == highest_end_; }
  [[nodiscard]] std::uint64_t in_order_bytes() const { return buffer_.in_order_bytes(); }
  [[nodiscard]] std::uint64_t received_bytes() const { return buffer_.received_bytes(); }
  /// From ACK to ACK2.
  [[nodiscard]] const RttEstimator& rtt() const { return rtt_; }

  /// Data packets that came after one that was sent later.
  [[nodiscard]] std::uint64_t packets_late() const { return losses_.late(); }

  /// The next ACK or NAK that is due; to be called until there is none.
  [[nodiscard]] std::optional<ControlMessage> poll_control(TimePoint now);
  [[nodiscard]] std::optional<TimePoint> deadline() const;

 private:
  void note_arrival(TimePoint now, const DataHeader& header, PacketIndex index, std::size_t payload_bytes);
  void want_ack_of_burst(TimePoint now, PacketIndex index, std::size_t payload_bytes);
  void want_ack(TimePoint at) { ack_due_ = std::min(ack_due_, at); }
  [[nodiscard]] std::optional<ControlMessage> poll_nak(TimePoint now);
  [[nodiscard]] LossList::Backoff nak_backoff() const;
  [[nodiscard]] ControlMessage make_ack(TimePoint now);
  [[nodiscard]] PacketIndex ack_point() const;
  [[nodiscard]] bool beyond_any_window(PacketIndex index) const;
  [[nodiscard]] std::size_t window_unit_bytes() const;
  [[nodiscard]] std::uint32_t window_packets() const;
  [[nodiscard]] Duration ack_delay() const;
  void append_report(TimePoint now, std::vector<std::uint32_t>& words) const;

  struct SentAck {
    std::uint32_t number = 0;
    TimePoint at;
  };
  static constexpr std::size_t kAckHistory = 256;  // guess: 2.5 s of ACKs; libudt keeps 1024

  const Settings settings_;
  const PeerTraits& peer_;
  const SequenceSpace sequences_;
  ReceiveBuffer buffer_;
  LossList losses_;
  RttEstimator rtt_;            // from ACK to ACK2
  ArrivalRate arrival_rate_;    // where the peer sends trains
  ArrivalTimes arrival_times_;  // where it sends packets

  PacketIndex highest_end_ = 0;  // one past the highest that arrived
  TimePoint ack_due_ = TimePoint::max();
  std::size_t packets_since_ack_ = 0;
  bool light_due_ = false;
  bool window_was_small_ = false;  // the last ACK announced less than a quarter of the buffer
  PacketIndex acked_ = 0;          // ack_point() of the last full ACK
  bool acked_confirmed_ = true;    // by ACK2
  std::uint32_t next_ack_number_ = 1;
  TimePoint last_full_ack_{};
  std::array<SentAck, kAckHistory> sent_acks_{};
  std::uint32_t latest_timestamp_us_ = 0;
  TimePoint latest_arrival_{};
  TimePoint first_arrival_{};  // ExtendedReport::arrived_us counts from here
  std::uint32_t host_overloads_ = 0;
};

}  // namespace udtcat::transport::native
