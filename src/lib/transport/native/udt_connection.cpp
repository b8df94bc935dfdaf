// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/udt_connection.hpp"

#include <algorithm>
#include <utility>

#include "lib/transport/native/acknowledgement.hpp"
#include "lib/transport/native/handshake.hpp"
#include "lib/transport/native/keep_alive.hpp"

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMaxDatagrams = 64;             // guess: more in one wake-up are a flood
constexpr std::size_t kMaxOutbox = 64;                // guess: the peer repeats what is not answered
constexpr std::uint32_t kShutdowns = 3;               // spec: udt4.md §8: it is not acknowledged
constexpr Duration kShutdownGap = 30ms;               // guess: longer than a burst of losses on most paths
constexpr Duration kShortShutdownGap = 1ms;           // guess: one burst of losses is not to hit all of them
constexpr std::uint32_t kConvincingUnreachables = 3;  // guess: ICMP is easily forged, and a peer may be starting again
constexpr Duration kConvincingSpread = 2s;            // guess
constexpr Duration kCheapProbe = 20ms;                // guess: a full packet's time on the wire, at 600 kbit/s
constexpr Duration kFirstSmallProbe = 300ms;          // guess: three of UDT's initial round trips
constexpr std::size_t kSmallProbeAndReplyBytes = 96;  // spec: udt4.md §9, with the headers of IPv4 and UDP
constexpr std::size_t kAckAndAck2Bytes = 144;         // spec: udt4.md §5, §9, with the headers of IPv4 and UDP
constexpr std::size_t kLeastIpv4Bytes = 576;          // spec: RFC 791: every host takes them
constexpr std::size_t kLeastIpv6Bytes = 1280;         // spec: RFC 8200 §5
constexpr std::size_t kIpv6OverheadBytes = 48;        // spec: RFC 8200, RFC 768

bool ipv6(const Endpoint& address) { return address.family() == AddressFamily::ipv6; }

std::size_t overhead_bytes(const Endpoint& peer) { return ipv6(peer) ? kIpv6OverheadBytes : kIpv4OverheadBytes; }

/// The size of the IP packets that the MSS allows: UDT counts the headers of IPv4, for IPv6 too.
std::size_t ip_bytes(const ConnectionSettings& settings) {
  return settings.mss - kIpv4OverheadBytes + overhead_bytes(settings.peer_address);
}

bool is_extension(std::span<const std::byte> packet, Extension kind) {
  if (!is_control(packet)) return false;
  const ControlHeader header = decode_control_header(packet);
  return header.type == ControlType::user && static_cast<Extension>(header.subtype) == kind;
}

UdtSender::Settings sender_settings(const ConnectionSettings& settings, std::size_t payload_bytes) {
  return {.peer = settings.peer,
          .initial_sequence = settings.initial_sequence,
          .peer_id = settings.peer_id,
          .window_packets = settings.flow_window,
          .payload_bytes = payload_bytes,
          .memory_bytes = settings.options.memory_bytes,
          .congestion = settings.options.congestion,
          .rate_cap = settings.options.rate,
          .random_seed = static_cast<std::uint32_t>(settings.random_seed),
          .started = settings.started,
          .hold_until = settings.started + settings.hold,
          .handshake_data = settings.handshake_data,
          .known_path = settings.path,
          .first_rtt = settings.first_rtt,
          .group = settings.group};
}

std::optional<MtuSearch> new_mtu_search(const ConnectionSettings& settings) {
  if (!traits_of(settings.peer).extended) return std::nullopt;
  return MtuSearch({.overhead_bytes = overhead_bytes(settings.peer_address),
                    .least_bytes = ipv6(settings.peer_address) ? kLeastIpv6Bytes : kLeastIpv4Bytes,
                    .most_bytes = ip_bytes(settings),
                    .found_bytes = settings.path ? settings.path->packet_bytes : 0});
}

std::size_t first_payload_bytes(const ConnectionSettings& settings) {
  const std::size_t agreed = settings.mss - kMssOverheadBytes;
  const auto mtu = new_mtu_search(settings);
  return mtu ? std::min(agreed, mtu->packet_bytes() - kHeaderBytes) : agreed;
}

}  // namespace

UdtConnection::UdtConnection(const ConnectionSettings& settings, core::ChunkPool& chunks)
    : settings_(settings),
      peer_(traits_of(settings.peer)),
      receiver_(
          {settings.peer, settings.initial_sequence, settings.mss - kMssOverheadBytes, settings.options.memory_bytes},
          chunks),
      sender_(sender_settings(settings, first_payload_bytes(settings))),
      mtu_(new_mtu_search(settings)),
      path_(settings.peer_address, settings.local_address, {settings.local_token, settings.peer_token}),
      last_heard_(settings.started),
      last_sent_(settings.started),
      keep_alive_(peer_.extended ? kKeepAlive : rare_keep_alive(settings.options.idle_timeout)),
      shutdowns_left_(kShutdowns),
      shutdown_gap_(kShutdownGap) {}

// ---- Packets in ---------------------------------------------------------------------------------------------------

void UdtConnection::handle_packet(TimePoint now, std::span<const std::byte> packet, const Endpoint& from,
                                  const std::optional<Endpoint>& to, const Arrival& arrival) {
  if (state_ != State::open && state_ != State::draining) return;
  const bool control = is_control(packet);
  if (from != path_.peer() && !take_from_other_address(now, packet, from, to)) return;
  last_heard_ = now;
  unreachables_ = {};
  sender_.on_heard();
  if (control) return handle_control(now, packet, from);
  if (fallback_) fallback_->liveness().on_data(now, packet.size());
  receiver_.on_data(now, decode_data_header(packet), {packet.subspan(kHeaderBytes), arrival.chunk, arrival.when});
}

/// returns   whether the packet is to be handled as one from the peer's address
bool UdtConnection::take_from_other_address(TimePoint now, std::span<const std::byte> packet, const Endpoint& from,
                                            const std::optional<Endpoint>& to) {
  if (!peer_.extended) return false;
  // A path response proves by itself that it is the peer's.
  if (is_extension(packet, Extension::path_response)) {
    handle_control(now, packet, from);
    return false;
  }
  const bool is_challenge = is_extension(packet, Extension::path_challenge);
  const bool is_tried = is_challenge && path_.on_challenge_from(from);
  if (is_tried) handle_control(now, packet, from);  // the response first: by it the peer moves there
  if (is_tried || path_.is_to_be_challenged(now, from))
    if (auto challenge = path_.on_other_address(now, from, to, is_challenge && !is_tried))
      queue(std::move(*challenge), from);
  const bool is_user = is_control(packet) && decode_control_header(packet).type == ControlType::user;
  return path_.takes_from(now, from) && !is_user;
}

/// Where only the port is another, a NAT has lost its mapping, and the path is the same.
void UdtConnection::on_moved(TimePoint now, const Endpoint& before) {
  if (fallback_) fallback_->liveness().restart(now);
  if (before.with_port(0) == path_.peer().with_port(0)) return;
  sender_.on_new_path(now);
  small_probe_at_ = {};
}

void UdtConnection::handle_handshake_data(TimePoint now, std::uint32_t timestamp_us, const Arrival& arrival) {
  if (!arrival.payload.empty())
    receiver_.on_data(now, {settings_.initial_sequence, 0, timestamp_us, settings_.local_id}, arrival);
}

void UdtConnection::handle_control(TimePoint now, std::span<const std::byte> packet, const Endpoint& from) {
  const ControlHeader header = decode_control_header(packet);
  const auto body = packet.subspan(kHeaderBytes);
  switch (header.type) {
    case ControlType::ack:
      return handle_ack(now, header, body, from);
    case ControlType::nak:
      return sender_.on_nak(now, decode_loss_list(body));
    case ControlType::ack2:
      if (const auto rtt = receiver_.on_ack2(now, header.additional)) {
        sender_.note_small_rtt(now, {*rtt, kAckAndAck2Bytes});
        note_answered(from);
      }
      return;
    case ControlType::shutdown:
      return handle_shutdown(body);
    case ControlType::user:
      if (peer_.extended) handle_extension(now, header, packet, from);
      return;
    case ControlType::handshake:
    case ControlType::keep_alive:
    case ControlType::congestion_warning:
    case ControlType::message_drop:
    case ControlType::error:
      return;  // the peer is alive
  }
}

void UdtConnection::handle_ack(TimePoint now, const ControlHeader& header, std::span<const std::byte> body,
                               const Endpoint& from) {
  const auto ack = decode_acknowledgement(body);
  if (!ack) return;
  // libudt repeats an ACK until it gets ACK2. A light ACK has no number.
  if (ack->window_packets && header.additional != 0) queue({ControlType::ack2, 0, header.additional, {0}});
  const std::uint64_t delivered_before = sender_.delivered_bytes();
  sender_.on_ack(now, *ack);
  if (sender_.delivered_bytes() > delivered_before) note_answered(from);
}

/// A SHUTDOWN is not authenticated: the session above decides whether the stream had ended. Between our own ends it has
/// a token, so that a third host, which may guess the socket number, cannot break the connection.
void UdtConnection::handle_shutdown(std::span<const std::byte> body) {
  if (peer_.extended && number_at(body, 0) != settings_.local_token) return;
  state_ = State::peer_closed;
}

void UdtConnection::handle_reset(std::uint64_t token) {
  if (state_ != State::open && state_ != State::draining) return;
  // The comparison takes constant time.
  if (peer_.extended && token == settings_.peer_token) state_ = State::reset;
}

void UdtConnection::handle_extension(TimePoint now, const ControlHeader& header, std::span<const std::byte> packet,
                                     const Endpoint& from) {
  const auto body = packet.subspan(kHeaderBytes);
  switch (static_cast<Extension>(header.subtype)) {
    case Extension::path_challenge:
      if (auto answer = path_.on_challenge(body)) queue(std::move(*answer), from);
      return;
    case Extension::path_response: {
      if (fallback_ && from == path_.peer() && path_.on_answer(body)) return fallback_->on_answered(path_);
      const Endpoint before = path_.peer();
      if (!path_.on_response(now, from, body)) return;
      last_heard_ = now;
      return on_moved(now, before);
    }
    case Extension::mtu_probe:
      return queue({ControlType::user,
                    static_cast<std::uint16_t>(Extension::mtu_reply),
                    static_cast<std::uint32_t>(packet.size()),
                    {0}});
    case Extension::mtu_reply:
      // Where two small probes were sent the reply may be to either (Karn's rule).
      if (small_probe_at_ != TimePoint{} && small_probe_at_ != TimePoint::max())
        sender_.note_small_rtt(now, {now - small_probe_at_, kSmallProbeAndReplyBytes});
      if (mtu_->on_reply(now, header.additional)) sender_.set_payload_bytes(mtu_->packet_bytes() - kHeaderBytes);
      return;
    case Extension::reset:
      return;  // for destination 0 only
    case Extension::datagram:
      if (datagrams_.size() < kMaxDatagrams) datagrams_.emplace_back(body.begin(), body.end());
      return;
  }
}

void UdtConnection::handle_port_closed(TimePoint now) {
  if (unreachables_.count++ == 0) unreachables_.first = now;
  unreachables_.last = now;
}

std::optional<TimePoint> UdtConnection::port_closed_since() const {
  if (unreachables_.count < kConvincingUnreachables || unreachables_.last - unreachables_.first < kConvincingSpread)
    return std::nullopt;
  return unreachables_.last;
}

void UdtConnection::handle_too_large(TimePoint now, const net::DatagramTrain& train) {
  if (!mtu_) return;  // those are sent without DF
  if (train.segment_bytes > sender_.payload_bytes() + kHeaderBytes) return mtu_->on_too_large(now, train.segment_bytes);
  on_black_hole(now);
}

void UdtConnection::handle_path_mtu(TimePoint now, std::size_t ip_bytes) {
  if (mtu_ && mtu_->on_router_says(now, ip_bytes)) sender_.set_payload_bytes(mtu_->packet_bytes() - kHeaderBytes);
}

void UdtConnection::on_black_hole(TimePoint now) {
  mtu_->on_black_hole(now);
  sender_.set_payload_bytes(mtu_->packet_bytes() - kHeaderBytes);
}

// ---- Time ---------------------------------------------------------------------------------------------------------

void UdtConnection::handle_timeout(TimePoint now) {
  if (mtu_ && sender_.suspects_black_hole(now, mtu_->least_packet_bytes() - kHeaderBytes)) on_black_hole(now);
  if (now >= first_small_probe_at()) send_small_probe(now);
  const std::uint32_t unanswered = sender_.unanswered_probes();
  sender_.handle_timeout(now);
  if (sender_.unanswered_probes() > unanswered) send_small_probe(now);
  advance(now);
}

/// While no round trip is known, a small probe is sent before data are sent again: it shows when an answer is late.
TimePoint UdtConnection::first_small_probe_at() const {
  const bool unknown = mtu_ && !sender_.rtt().measured() && small_probe_at_ == TimePoint{};
  const auto since = sender_.unanswered_since();
  return unknown && since ? *since + kFirstSmallProbe : TimePoint::max();
}

/// Sends a small probe, whose reply tells an outage from an MTU black hole.
void UdtConnection::send_small_probe(TimePoint now) {
  if (!mtu_) return;
  small_probe_at_ = small_probe_at_ == TimePoint{} ? now : TimePoint::max();
  queue({ControlType::user, static_cast<std::uint16_t>(Extension::mtu_probe), 0, {0}});
}

void UdtConnection::advance(TimePoint now) {
  const bool drained = sender_.all_acknowledged() || now >= drain_until_;
  if (state_ == State::draining && drained) {
    state_ = State::closed;
    next_shutdown_ = now;
  }
  if ((state_ == State::open || state_ == State::draining) && now >= idle_deadline()) {
    state_ = State::lost;
    if (sender_.suspects_black_hole(now, 0)) black_hole_bytes_ = packet_bytes();
  }
}

/// When the connection is lost unless something comes. Keep-alives may arrive where data do not: a peer that
/// acknowledges nothing of what it has room for is taken for silent.
TimePoint UdtConnection::idle_deadline() const {
  const TimePoint alive = std::min(last_heard_, sender_.unanswered_since().value_or(last_heard_));
  return alive + settings_.options.idle_timeout;
}

std::optional<TimePoint> UdtConnection::deadline(TimePoint now) const {
  if (over()) return std::nullopt;
  if (state_ == State::closed) return next_shutdown_;
  if (!outbox_.empty()) return now;
  TimePoint earliest = std::min(idle_deadline(), last_sent_ + keep_alive_);
  const auto join = [&](const std::optional<TimePoint>& time) {
    earliest = std::min(earliest, time.value_or(earliest));
  };
  join(receiver_.deadline());
  join(sender_.deadline(now));
  if (searches_mtu()) join(mtu_->deadline());
  join(first_small_probe_at());
  join(path_.deadline());
  if (fallback_) join(fallback_->deadline(now, path_rtt()));
  if (state_ == State::draining) earliest = std::min(earliest, drain_until_);
  return earliest;
}

// ---- Trains out ---------------------------------------------------------------------------------------------------

bool UdtConnection::poll_transmit(TimePoint now, TrainBuilder& builder) {
  advance(now);
  if (state_ == State::closed) return poll_shutdown(now, builder);
  if (over()) return false;
  if (auto question = fallback_ ? fallback_->poll(now, path_rtt(), path_) : std::nullopt) queue(std::move(*question));
  if (poll_control(now, builder) || poll_probe(now, builder) || poll_path(now, builder)) return true;
  if (sender_.poll_train(now, builder)) {
    address(builder);
    last_sent_ = now;
    if (fallback_) fallback_->liveness().on_sent(now, builder.train().total_bytes);
    return true;
  }
  if (now - last_sent_ < keep_alive_) return false;
  send(now, builder, keep_alive_packet());
  return true;
}

std::vector<std::byte> UdtConnection::keep_alive_packet() const {
  return encoded({ControlType::keep_alive, 0, 0, std::vector<std::uint32_t>(peer_.keep_alive_words)});
}

bool UdtConnection::poll_path(TimePoint now, TrainBuilder& builder) {
  const auto tried = path_.poll_try(now);
  if (!tried) return false;
  const auto challenge = path_.challenge_of_try(now);
  builder.set_control(challenge ? encoded(*challenge) : keep_alive_packet());
  address(builder);
  builder.train().to = *tried;
  return true;
}

bool UdtConnection::poll_control(TimePoint now, TrainBuilder& builder) {
  if (!outbox_.empty()) {
    const Outgoing next = std::move(outbox_.front());
    outbox_.pop_front();
    auto packet = encoded(next.message);
    packet.insert(packet.end(), next.body.begin(), next.body.end());
    send(now, builder, std::move(packet));
    if (next.to) builder.train().to = *next.to;
    return true;
  }
  auto message = receiver_.poll_control(now);
  if (!message) return false;
  const bool is_answered = message->type == ControlType::ack && message->additional != 0;  // by ACK2
  if (fallback_ && is_answered) fallback_->liveness().on_asked(now);
  send(now, builder, encoded(*message));
  return true;
}

/// Whether to search for a larger MTU: not on a slow path, or one that may be slow. A larger MTU gains 1 % there, and a
/// probe delays the packets behind it.
bool UdtConnection::searches_mtu() const {
  return mtu_ && (mtu_->is_narrow() || sender_.most_wire_time(sender_.payload_bytes()) <= kCheapProbe);
}

bool UdtConnection::poll_probe(TimePoint now, TrainBuilder& builder) {
  if (!searches_mtu()) return false;
  const auto bytes = mtu_->poll_probe(now, 2 * sender_.answer_time());
  if (!bytes) return false;
  auto packet = encoded({ControlType::user, static_cast<std::uint16_t>(Extension::mtu_probe), 0, {}});
  packet.resize(*bytes);
  send(now, builder, std::move(packet));
  return true;
}

bool UdtConnection::poll_shutdown(TimePoint now, TrainBuilder& builder) {
  if (shutdowns_left_ == 0 || now < next_shutdown_) return false;
  --shutdowns_left_;
  next_shutdown_ = now + shutdown_gap_;
  send(now, builder, shutdown_packet());
  return true;
}

std::vector<std::byte> UdtConnection::shutdown_packet() const {
  ControlMessage message{ControlType::shutdown, 0, 0, {}};
  if (peer_.extended)
    append_number(message.words, settings_.peer_token);
  else
    message.words = {0};
  return encoded(message);
}

void UdtConnection::send(TimePoint now, TrainBuilder& builder, std::vector<std::byte> packet) {
  builder.set_control(std::move(packet));
  address(builder);
  last_sent_ = now;
}

void UdtConnection::address(TrainBuilder& builder) const {
  builder.train().to = path_.peer();
  builder.train().from = path_.local();
  builder.train().may_fragment = !peer_.extended;
}

void UdtConnection::queue(ControlMessage message, std::optional<Endpoint> to) {
  if (outbox_.size() < kMaxOutbox) outbox_.push_back({std::move(message), std::move(to)});
}

std::vector<std::byte> UdtConnection::encoded(const ControlMessage& message) const {
  return encode(ControlHeader{message.type, message.subtype, message.additional, 0, settings_.peer_id}, message.words);
}

std::size_t UdtConnection::datagram_room_bytes(TimePoint now) const {
  return peer_.extended && state_ == State::open && sender_.would_wait(now) ? sender_.payload_bytes() : 0;
}

void UdtConnection::send_datagram(std::span<const std::byte> bytes) {
  if (outbox_.size() >= kMaxOutbox) return;
  const ControlMessage message{ControlType::user, static_cast<std::uint16_t>(Extension::datagram), 0, {}};
  outbox_.push_back({message, std::nullopt, {bytes.begin(), bytes.end()}});
}

std::optional<std::vector<std::byte>> UdtConnection::take_datagram() {
  if (datagrams_.empty()) return std::nullopt;
  auto first = std::move(datagrams_.front());
  datagrams_.pop_front();
  return first;
}

void UdtConnection::try_path(TimePoint now, const Endpoint& address) {
  if (peer_.extended) path_.try_address(now, address);
}

void UdtConnection::trust_peer(TimePoint now) {
  keep_alive_ = rare_keep_alive(settings_.options.idle_timeout);
  receiver_.trust_peer(now);
}

// ---- The user's side ----------------------------------------------------------------------------------------------

void UdtConnection::close(TimePoint now, Duration drain) {
  if (state_ != State::open) return;
  state_ = State::draining;
  drain_until_ = now + drain;
  advance(now);
}

void UdtConnection::shorten_shutdown(TimePoint now) {
  if (!peer_.extended) return;  // libudt knows no stateless reset
  shutdown_gap_ = kShortShutdownGap;
  next_shutdown_ = std::min(next_shutdown_, now + shutdown_gap_);
}

std::optional<TimePoint> UdtConnection::unanswered_since() const {
  // Packets of the peer may still come: a NAT or router can lose its state of one direction.
  const bool asks = state_ == State::open && peer_.extended && sender_.unanswered_probes() > 0;
  return asks ? sender_.unanswered_since() : std::nullopt;
}

KnownPath UdtConnection::known_path() const {
  KnownPath path = sender_.known_path().value_or(KnownPath());
  if (is_at_first_host()) path.cookie = settings_.next_cookie;
  path.packet_bytes = mtu_ && mtu_->has_found() ? packet_bytes() : 0;
  // Findings of an earlier connection are not passed on: they would never expire.
  path.loses_trains = sender_.trains_off() && !(settings_.path && settings_.path->loses_trains);
  return path;
}

ChannelStats UdtConnection::stats() const {
  const RttEstimator& rtt = path_rtt();
  ChannelStats stats{sender_.stats(), receiver_.in_order_bytes()};
  if (rtt.measured()) stats.rtt = std::chrono::duration_cast<std::chrono::microseconds>(rtt.smoothed());
  stats.packets_late = receiver_.packets_late();
  stats.bytes_arrived = receiver_.received_bytes();
  stats.bytes_carried = receiver_.received_bytes() + sender_.delivered_bytes();
  return stats;
}

void UdtConnection::add_end_stats(TimePoint now, EndStats& end) const {
  sender_.add_end_stats(now, end);
  end.packet_bytes = packet_bytes();
  if (!settings_.options.offload) end.trains_off = 1;
  // In a tunnel the rate is that of the program that carries it.
  if (path_.peer() == tunnel_address(path_.peer().family())) end.path_rate = {};
}

std::size_t UdtConnection::packet_bytes() const {
  return sender_.payload_bytes() + kHeaderBytes + overhead_bytes(path_.peer());
}

}  // namespace udtcat::transport::native
