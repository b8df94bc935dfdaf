// SPDX-License-Identifier: Apache-2.0
/// How fast to send: the interface of every congestion control.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <udtcat/known_paths.hpp>
#include <udtcat/options.hpp>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

class FlowGroup;

/// How fast the path delivered, measured over one flight.  source: draft-ietf-ccwg-bbr, "Delivery Rate Samples"
struct RateSample {
  std::uint64_t delivered_bytes = 0;        ///< delivered between the newest acknowledged packet's sending and this ACK
  Duration interval{0};                     ///< the longer of the sending and the acknowledging time of those bytes
  std::uint64_t prior_delivered_bytes = 0;  ///< AckEvent::delivered_total_bytes when that packet was sent
  std::uint64_t in_flight_at_send_bytes = 0;  ///< in flight just after that packet was sent
  std::uint64_t lost_bytes = 0;               ///< found lost since that packet was sent
  bool app_limited = false;                   ///< there was nothing more to send then: the path may be faster
};

/// Something was delivered. One per handled batch of acknowledgements.
struct AckEvent {
  TimePoint now{};
  std::uint64_t newly_delivered_bytes = 0;
  std::uint64_t delivered_total_bytes = 0;  ///< since the connection began
  std::uint64_t in_flight_bytes = 0;        ///< after this ACK
  std::optional<Duration> rtt{};            ///< a sample, if this ACK gave one
  std::optional<Duration> least_rtt{};      ///< of all samples, the handshake's too
  std::optional<RateSample> rate{};
  std::optional<TimePoint>
      newest_sent_at{};      ///< of the newest packet known to have arrived, if it was sent once or echoed
  bool app_limited = false;  ///< nothing waits to be sent at this moment
  /// Since the last event the receiving host had a backlog, or no room for some datagrams.
  bool host_overloaded = false;
  /// Words 4 and 5 of UDT's ACK: the arrival rate and the capacity of the link, in packets a second.
  std::optional<std::uint32_t> peer_rate_packets{};
  std::optional<std::uint32_t> peer_capacity_packets{};
};

/// The peer's NAKs (or our own timer) found packets lost.
struct LossEvent {
  TimePoint now{};
  std::uint64_t lost_bytes = 0;  ///< newly found
  /// Packets were sent after the last LossEvent's highest sent packet and lost: a new congestion epoch (RFC 9002
  /// §7.3.1).
  bool new_epoch = false;
  std::uint64_t runs = 0;  ///< of packets in a row, among the newly found
  /// Trains were too long for a queue, and are shorter from now on: the pace is not the cause.
  bool of_long_trains = false;
};

/// Decides on two numbers: how many bytes may be in flight, and how fast they leave. Rates and windows count UDT
/// payload. The sender applies TransportOptions::rate as a cap on any of them.
/// Threads: unsynchronised; time is a parameter.
class CongestionControl {
 public:
  virtual ~CongestionControl() = default;

  /// `bytes` were just sent, first time or again.
  /// in_flight_bytes   before these
  virtual void on_sent(TimePoint now, std::uint64_t bytes, std::uint64_t in_flight_bytes) = 0;
  virtual void on_ack(const AckEvent& event) = 0;
  virtual void on_loss(const LossEvent& event) = 0;
  /// Two probes in a row without an answer: what is in flight is taken for lost.
  virtual void on_timeout(TimePoint now) = 0;
  /// The payload of a full packet changed (path MTU).
  virtual void on_packet_size(std::size_t payload_bytes) = 0;

  /// Before anything is sent: the path as an earlier connection knew it. A hint: see RFC 9959.
  virtual void resume(const KnownPath& /*path*/) {}
  /// For the next connection; none: nothing worth it was learned.
  [[nodiscard]] virtual std::optional<KnownPath> known_path() const { return std::nullopt; }

  [[nodiscard]] virtual std::uint64_t window_bytes() const = 0;
  /// The rate that the path was found to carry; zero: not found yet.
  [[nodiscard]] virtual BitRate path_rate() const { return {}; }
  /// Zero: not paced, the window alone decides.
  [[nodiscard]] virtual BitRate pacing_rate() const = 0;
};

struct CongestionSettings {
  CongestionKind kind = CongestionKind::bbr;
  BitRate cap{};  ///< the sender's; for CongestionKind::fixed the rate
  std::uint32_t random_seed = 0;
  std::uint32_t ack_packets = 0;       ///< until so many have come the receiver may send no ACK; 0: an ACK at once
  std::shared_ptr<FlowGroup> group{};  ///< of flows with which it is coupled; null: none
};

/// payload_bytes   of a full packet
[[nodiscard]] std::unique_ptr<CongestionControl> make_congestion_control(const CongestionSettings& settings,
                                                                         std::size_t payload_bytes, TimePoint now);

}  // namespace udtcat::transport::native
