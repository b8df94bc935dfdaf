// SPDX-License-Identifier: Apache-2.0
/// An established UDT4 connection, without a socket, a thread or a clock: the hub of both halves.
///
///   datagrams ─ handle_packet ─► UdtReceiver ─ read ─►            ─ write ─► UdtSender ─ poll_transmit ─► trains
///                     └─ ACK, NAK ─► UdtSender          UdtReceiver ─ ACK, NAK ─► poll_transmit
///
/// After any call of handle_*, write(), read() or close() the driver calls poll_transmit() until it gives nothing, and
/// sets its timer to deadline().
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include <udtcat/endpoint.hpp>
#include <udtcat/options.hpp>

#include "lib/core/shared_bytes.hpp"
#include "lib/transport/channel.hpp"
#include "lib/transport/native/fallback_path.hpp"
#include "lib/transport/native/mtu_search.hpp"
#include "lib/transport/native/packet.hpp"
#include "lib/transport/native/path_validation.hpp"
#include "lib/transport/native/peer.hpp"
#include "lib/transport/native/train_builder.hpp"
#include "lib/transport/native/udt_receiver.hpp"
#include "lib/transport/native/udt_sender.hpp"

namespace udtcat::transport::native {

/// The results of the handshake.
struct ConnectionSettings {
  PeerKind peer = PeerKind::plain;
  std::uint32_t local_id = 0;
  std::uint32_t peer_id = 0;
  std::uint32_t initial_sequence = 0;  ///< of both directions
  std::uint32_t mss = 0;               ///< the lesser of the two ends'
  std::uint32_t flow_window = 0;       ///< the peer's, in packets
  std::uint64_t local_token = 0;       ///< proves to this end that a packet is the peer's
  std::uint64_t peer_token = 0;        ///< likewise, to the peer
  std::uint32_t next_cookie = 0;       ///< for the next connection to the listener; 0: none
  std::optional<KnownPath> path;       ///< as an earlier connection knew it
  std::optional<SmallRtt> first_rtt;   ///< of the handshake
  Endpoint peer_address;
  std::optional<Endpoint> local_address;        ///< the address of this host that the peer sends to; none: any
  std::optional<HandshakeData> handshake_data;  ///< that left with the conclusion
  TransportOptions options;
  TimePoint started;
  Duration hold{0};                    ///< until then the peer is not ready for data
  std::uint64_t random_seed = 0;       ///< secret
  std::shared_ptr<FlowGroup> group{};  ///< see CongestionSettings
};

/// Threads: unsynchronised; time is a parameter.
class UdtConnection {
 public:
  ///   open ──close()──► draining ──all acknowledged, or time is up──► closed
  ///   open, draining ──SHUTDOWN──► peer_closed
  ///   open, draining ──silence──► lost
  ///   open, draining ──stateless reset──► reset
  enum class State { open, draining, closed, peer_closed, lost, reset };

  UdtConnection(const ConnectionSettings& settings, core::ChunkPool& chunks);

  /// One packet for this connection.
  /// from, to   its source address, and that of this host that it was sent to
  /// arrival    of the packet; `payload` is ignored
  void handle_packet(TimePoint now, std::span<const std::byte> packet, const Endpoint& from,
                     const std::optional<Endpoint>& to, const Arrival& arrival);
  /// The data that came with the client's conclusion.
  /// timestamp_us   of the conclusion
  void handle_handshake_data(TimePoint now, std::uint32_t timestamp_us, const Arrival& arrival);
  void handle_timeout(TimePoint now);
  /// The system refused a train because its packets are too large for the path.
  void handle_too_large(TimePoint now, const net::DatagramTrain& train);
  /// ICMP: IP packets of more than `ip_bytes` do not pass.
  void handle_path_mtu(TimePoint now, std::size_t ip_bytes);
  /// ICMP: the peer's port is closed.
  void handle_port_closed(TimePoint now);
  /// A stateless reset: the peer's process was started again. Ignored unless it has the peer's token.
  void handle_reset(std::uint64_t token);
  /// See Channel.
  void trust_peer(TimePoint now);
  void try_path(TimePoint now, const Endpoint& address);
  [[nodiscard]] bool tries_path() const { return path_.deadline().has_value(); }
  void watch_path(TimePoint now, const std::optional<Endpoint>& fallback) {
    if (peer_.extended) fallback_.emplace(now, fallback);
  }
  [[nodiscard]] bool path_is_silent(TimePoint now) const { return fallback_ && fallback_->is_silent(now, path_rtt()); }
  void note_host_overloads(std::uint64_t total) { receiver_.on_host_overloads(total); }

  /// Fills an empty builder, addresses included.  returns   whether there is a train that may leave now
  [[nodiscard]] bool poll_transmit(TimePoint now, TrainBuilder& builder);
  [[nodiscard]] std::optional<TimePoint> deadline(TimePoint now) const;

  /// See Channel. Datagrams that come wait to be taken; those beyond a limit are dropped.
  [[nodiscard]] std::size_t datagram_room_bytes(TimePoint now) const;
  void send_datagram(std::span<const std::byte> bytes);
  [[nodiscard]] std::optional<std::vector<std::byte>> take_datagram();

  void write(core::SharedBytes bytes) { sender_.write(std::move(bytes)); }
  [[nodiscard]] std::size_t read(TimePoint now, std::span<std::byte> into) { return receiver_.read(now, into); }
  [[nodiscard]] std::uint64_t readable_bytes() const { return receiver_.readable_bytes(); }
  /// Offsets in the stream that is written: past the last byte that has left at least once, and the end.
  [[nodiscard]] std::uint64_t sent_offset() const { return sender_.sent_offset(); }
  [[nodiscard]] std::uint64_t written_bytes() const { return sender_.written_offset(); }
  /// See UdtSender.
  [[nodiscard]] std::uint64_t acknowledged_offset() const { return sender_.acknowledged_offset(); }
  [[nodiscard]] std::optional<TimePoint> unacknowledged_since() const { return sender_.unanswered_since(); }
  [[nodiscard]] std::uint64_t fully_acknowledged_offset() const { return sender_.fully_acknowledged_offset(); }
  [[nodiscard]] bool all_acknowledged() const { return sender_.all_acknowledged(); }
  /// See Channel.
  [[nodiscard]] std::uint64_t ahead_bytes() const { return sender_.ahead_bytes(); }
  /// The peer has sent SHUTDOWN, and there is no gap in what has arrived.
  [[nodiscard]] bool ended_in_order() const { return state_ == State::peer_closed && receiver_.has_no_gap(); }
  /// The first call counts.
  /// drain   how long to wait until all is acknowledged
  void close(TimePoint now, Duration drain);
  /// The process ends: the SHUTDOWNs follow each other at once. Where all are lost a stateless reset tells the peer.
  void shorten_shutdown(TimePoint now);

  [[nodiscard]] State state() const { return state_; }
  /// Nothing more is to be sent: it may be destroyed.
  [[nodiscard]] bool over() const {
    return (state_ == State::closed && shutdowns_left_ == 0) || state_ == State::lost || state_ == State::peer_closed ||
           state_ == State::reset;
  }
  [[nodiscard]] ChannelStats stats() const;
  /// See Channel.
  void add_end_stats(TimePoint now, EndStats& end) const;
  /// The size of a full packet, as an IP packet.
  [[nodiscard]] std::size_t packet_bytes() const;
  /// The connection is lost because full packets, of so many bytes, were, and smaller ones were not; 0: it is not.
  [[nodiscard]] std::size_t black_hole_bytes() const { return black_hole_bytes_; }
  [[nodiscard]] bool trains_off() const { return sender_.trains_off(); }
  /// For the next connection to this peer.
  [[nodiscard]] KnownPath known_path() const;
  [[nodiscard]] const Endpoint& peer_address() const { return path_.peer(); }
  /// The peer has the IP address that it had at the handshake.
  [[nodiscard]] bool is_at_first_host() const {
    return path_.peer().with_port(0) == settings_.peer_address.with_port(0);
  }
  /// The system refuses the source address: it is to choose one.
  void forget_local_address() { path_.forget_local(); }
  /// Since when a peer that follows this end to another address has answered nothing; none: no answer is due.
  [[nodiscard]] std::optional<TimePoint> unanswered_since() const;
  /// Smoothed; RttEstimator::kInitial before the first sample.
  [[nodiscard]] Duration rtt() const { return sender_.rtt().smoothed(); }
  [[nodiscard]] std::uint64_t memory_bytes() const { return settings_.options.memory_bytes; }
  [[nodiscard]] std::uint32_t local_id() const { return settings_.local_id; }
  /// See Channel::port_closed_since().
  [[nodiscard]] std::optional<TimePoint> port_closed_since() const;
  /// A SHUTDOWN.
  [[nodiscard]] std::vector<std::byte> shutdown_packet() const;

 private:
  [[nodiscard]] bool take_from_other_address(TimePoint now, std::span<const std::byte> packet, const Endpoint& from,
                                             const std::optional<Endpoint>& to);
  void on_moved(TimePoint now, const Endpoint& before);
  [[nodiscard]] const RttEstimator& path_rtt() const {
    return sender_.rtt().measured() ? sender_.rtt() : receiver_.rtt();
  }
  void handle_control(TimePoint now, std::span<const std::byte> packet, const Endpoint& from);
  void handle_extension(TimePoint now, const ControlHeader& header, std::span<const std::byte> packet,
                        const Endpoint& from);
  void handle_shutdown(std::span<const std::byte> body);
  void handle_ack(TimePoint now, const ControlHeader& header, std::span<const std::byte> body, const Endpoint& from);
  /// An answer that comes by another path says nothing of the one in use.
  void note_answered(const Endpoint& from) {
    if (fallback_ && from == path_.peer()) fallback_->on_answered(path_);
  }
  [[nodiscard]] bool poll_control(TimePoint now, TrainBuilder& builder);
  [[nodiscard]] bool searches_mtu() const;
  [[nodiscard]] bool poll_probe(TimePoint now, TrainBuilder& builder);
  [[nodiscard]] bool poll_path(TimePoint now, TrainBuilder& builder);
  [[nodiscard]] std::vector<std::byte> keep_alive_packet() const;
  [[nodiscard]] bool poll_shutdown(TimePoint now, TrainBuilder& builder);
  void send(TimePoint now, TrainBuilder& builder, std::vector<std::byte> packet);
  void address(TrainBuilder& builder) const;
  void queue(ControlMessage message, std::optional<Endpoint> to = std::nullopt);
  [[nodiscard]] std::vector<std::byte> encoded(const ControlMessage& message) const;
  void send_small_probe(TimePoint now);
  [[nodiscard]] TimePoint first_small_probe_at() const;
  void on_black_hole(TimePoint now);
  void advance(TimePoint now);
  [[nodiscard]] TimePoint idle_deadline() const;

  const ConnectionSettings settings_;
  const PeerTraits& peer_;
  State state_ = State::open;
  UdtReceiver receiver_;
  UdtSender sender_;
  std::optional<MtuSearch> mtu_;  // where the peer understands probes
  PathValidation path_;
  std::optional<FallbackPath> fallback_;

  struct Outgoing {
    ControlMessage message;
    std::optional<Endpoint> to;  // none: the peer
    std::vector<std::byte> body{};
  };
  std::deque<Outgoing> outbox_;
  std::deque<std::vector<std::byte>> datagrams_;  // that came, and were not taken yet
  std::size_t black_hole_bytes_ = 0;
  TimePoint small_probe_at_{};  // when a small probe was sent; zero: never, max: more than once
  TimePoint last_heard_;
  TimePoint last_sent_;
  Duration keep_alive_;
  struct PortUnreachables {
    std::uint32_t count = 0;
    TimePoint first;
    TimePoint last;
  };
  PortUnreachables unreachables_;  // since a packet of the peer came
  TimePoint drain_until_ = TimePoint::max();
  std::uint32_t shutdowns_left_;
  Duration shutdown_gap_;
  TimePoint next_shutdown_{};
};

}  // namespace udtcat::transport::native
