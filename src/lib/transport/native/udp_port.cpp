// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/udp_port.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "lib/crypto/secret_bytes.hpp"
#include "lib/net/stun.hpp"
#include "lib/transport/native/handshake.hpp"

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kChunkBytes = 64 * kKiB;      // spec: a GRO train is at most this, as is a datagram
constexpr std::size_t kSendBufferBytes = 4 * kMiB;  // guess
constexpr std::size_t kLeastBufferShare = 768;  // measured: what the smallest datagram takes of Linux's receive buffer
constexpr std::size_t kTrainsAtOnce = 8;        // guess: half a megabyte, which a cache still holds
constexpr int kTurns = 4;                       // guess: then others on this thread have theirs
constexpr std::uint32_t kWakesPerErrorCheck = 32;  // guess: a busy socket does not tell of errors by itself
constexpr std::size_t kPathErrorsAtOnce = 64;      // guess
constexpr Duration kLeastTimer = 20us;             // guess: a deadline in the past is now, but not a loop
constexpr Duration kRebindSilence = 4s;            // guess: longer than most outages, shorter than a user's patience
constexpr std::size_t kMaxRebinds = 4;             // guess: 4, 8, 16 and 32 s apart

net::DatagramSocket::Options socket_options(const TransportOptions& options, std::uint32_t mss) {
  return {.offload = options.offload,
          .tell_local = true,
          .receive_buffer_bytes = kReceiveBufferBytes,
          .send_buffer_bytes = kSendBufferBytes,
          .datagram_bytes = mss,
          .keep_path_errors = true};
}

}  // namespace

Result<std::unique_ptr<UdpPort>> UdpPort::create(boost::asio::io_context& io, net::UdpSocket socket,
                                                 const TransportOptions& options, std::uint32_t mss,
                                                 const PortKeys* keys) {
  UDTCAT_TRY(const Endpoint local, socket.local_endpoint());
  UDTCAT_TRY(net::DatagramSocket datagrams, net::DatagramSocket::make(std::move(socket), socket_options(options, mss)));
  const auto cookie = options.single_use && keys != nullptr ? std::optional(keys->cookie) : std::nullopt;
  UDTCAT_TRY(Admission admission, Admission::create({mss, kFirstFlowWindow, cookie}, local.port(), keys));
  return std::unique_ptr<UdpPort>(new UdpPort(io, std::move(datagrams), local, options, mss, std::move(admission)));
}

Result<std::unique_ptr<UdpPort>> UdpPort::create_beside(boost::asio::io_context& io, net::DatagramSocket socket,
                                                        const TransportOptions& options, std::uint32_t mss,
                                                        OtherPorts& others) {
  UDTCAT_TRY(const Endpoint local, socket.socket().local_endpoint());
  UDTCAT_TRY(Admission admission, Admission::create({mss, kFirstFlowWindow, {}}, local.port(), nullptr));
  std::unique_ptr<UdpPort> made(new UdpPort(io, std::move(socket), local, options, mss, std::move(admission)));
  made->others_ = &others;
  return made;
}

Result<net::DatagramSocket> UdpPort::open_beside() const {
  return net::DatagramSocket::make_beside(socket_, socket_options(options_, mss_));
}

UdpPort::UdpPort(boost::asio::io_context& io, net::DatagramSocket socket, const Endpoint& local,
                 const TransportOptions& options, std::uint32_t mss, Admission admission)
    : io_(io),
      local_(local),
      options_(options),
      mss_(mss),
      chunks_(kChunkBytes),
      socket_(std::move(socket)),
      buffer_bytes_(socket_.receive_buffer_bytes()),
      wait_(io, [this] { on_readable(); }),
      coalescing_(buffer_bytes_),
      overload_(buffer_bytes_),
      admission_(std::move(admission)),
      transmitter_(io, socket_, tunnel_,
                   [this] {
                     for (const auto& [id, link] : connections_.all()) link->schedule();
                   }),
      embryonic_(io, {.send =
                          [this](auto packet, const Endpoint& to) {
                            return transmitter_.send_alone(std::move(packet), to, std::nullopt);
                          },
                      .connect = [this](TimePoint now, const ConnectionSettings& agreed) -> UdtLink& {
                        return connect(now, agreed);
                      }}) {
  wait_readable();
}

// ---- Datagrams in -------------------------------------------------------------------------------------------------

void UdpPort::wait_readable() {
  wait_.until(SocketWait::Readiness::wait_read, socket_.readable_descriptor(), ReceiveCoalescing::kMaxDelay);
}

void UdpPort::on_readable() {
  std::size_t received = 0;
  bool emptied = false;
  for (int turn = 0; turn < kTurns && !emptied; ++turn) {
    const std::size_t trains = receive_some();
    flush_touched();
    received += trains;
    emptied = trains < kTrainsAtOnce;
    if (emptied) overload_.on_emptied();
  }
  if (received == 0 || ++wakes_ % kWakesPerErrorCheck == 0) take_path_errors(clock_now());
  // Packets that are there must not wait until the system has no room for more.
  if (!emptied) return boost::asio::post(io_, lifetime_.guard([this] { on_readable(); }));
  const Duration delay = coalescing_.after_wake(clock_now());
  if (delay == Duration::zero()) return wait_readable();
  wait_.after(delay);
}

std::size_t UdpPort::receive_some() {
  const std::size_t received = socket_.receive(trains_, kTrainsAtOnce, chunks_);
  // The clock is read after the packets: where this thread lost the processor in between, those that came meanwhile
  // would else be older than they are, and the least round trip shorter than the path's.
  const TimePoint now = clock_now();
  std::size_t taken_bytes = 0;
  for (const net::ReceivedTrain& train : trains_) {
    taken_bytes += std::max(train.total_bytes, kLeastBufferShare);
    if (tunnel_.is_at(train.from)) continue;  // a forged address: no host has it
    handle_train(now, train);
  }
  coalescing_.on_read(taken_bytes);
  overload_.on_read(taken_bytes, socket_.receive_drops(), connections_.all(),
                    [](const auto& each) -> OverloadDetector::Share& { return each.second->share; });
  trains_.clear();
  return received;
}

void UdpPort::take_from_tunnel(std::span<const std::byte> packet) {
  if (!tunnel_.is_open() || packet.empty() || packet.size() > chunks_.chunk_bytes()) return;
  const net::ReceivedTrain train = tunnel_.received(packet, chunks_);
  if (train.chunk.empty()) return;  // no memory: as if the path had lost it
  handle_train(clock_now(), train);
  flush_touched();
}

void UdpPort::handle_train(TimePoint now, const net::ReceivedTrain& train) {
  auto rest = std::span<const std::byte>(train.chunk.bytes()).first(train.total_bytes);
  while (!rest.empty()) {
    const std::size_t bytes = std::min(rest.size(), std::max<std::size_t>(train.segment_bytes, 1));
    handle_packet(now, rest.first(bytes), train);
    rest = rest.subspan(bytes);
  }
}

void UdpPort::handle_packet(TimePoint now, std::span<const std::byte> packet, const net::ReceivedTrain& train) {
  const auto id = destination_of(packet);
  if (!id) return;
  if (UdtLink* const link = connections_.find(*id)) {
    link->connection.handle_packet(now, packet, train.from, train.to, {{}, train.chunk, train.arrived});
    overload_.on_datagram(link->share, packet.size());
    return touch(*link);
  }
  if (others_ != nullptr && hand_over(*id, packet, train)) return;
  if (*id == 0) return handle_listener_packet(now, packet, train);
  if (embryonic_.handle_packet(now, *id, packet, train.from) || handle_stun(packet, train)) return;
  answer(admission_.answer_unknown(now, *id, packet, train.from), train);
}

/// The first port knows whose a packet is.  returns   whether it need not be handled here
bool UdpPort::hand_over(std::uint32_t id, std::span<const std::byte> packet, const net::ReceivedTrain& train) {
  if (leads_) {
    const FurtherLink* const link = connections_.find_elsewhere(id);
    if (link != nullptr) others_->hand_over(link->port, packet, train);
    return link != nullptr;
  }
  // From the first it is a reset, or of a connection that has just ended.
  if (handed_over_) return id != 0;
  others_->hand_over(0, packet, train);
  return true;
}

void UdpPort::take_handed_over(const IncomingDatagram& datagram) {
  if (tunnel_.is_at(datagram.from)) return;  // a forged address
  net::ReceivedTrain train{.chunk = chunks_.acquire(),
                           .total_bytes = datagram.packet.size(),
                           .segment_bytes = datagram.packet.size(),
                           .from = datagram.from,
                           .to = datagram.to,
                           .arrived = datagram.arrived};
  if (train.chunk.empty()) return;  // no memory: as if the path had lost it
  std::ranges::copy(datagram.packet, train.chunk.bytes().begin());
  handed_over_ = true;
  handle_train(clock_now(), train);
  handed_over_ = false;
  flush_touched();
}

void UdpPort::handle_listener_packet(TimePoint now, std::span<const std::byte> packet,
                                     const net::ReceivedTrain& train) {
  if (const auto reset = decode_reset(packet)) return handle_reset(*reset, packet, train);
  if (net::is_binding_indication(packet)) embryonic_.handle_check(train.from);
  if (handle_stun(packet, train)) return;
  auto outcome = admission_.handle(now, packet, train.from, connections_, [&] {
    return draw_numbers(train.from,
                        others_ != nullptr ? others_->port_for(train.from, admission_.keeps_beside(packet)) : 0);
  });
  if (outcome.accepted) accept(now, outcome, train);
  answer(std::move(outcome.reply), train);
}

void UdpPort::accept(TimePoint now, PassiveOpen::Outcome& outcome, const net::ReceivedTrain& train) {
  outcome.accepted->local_address = train.to;
  const ConnectionSettings settings = complete(now, *outcome.accepted);
  const std::uint32_t port = others_ != nullptr ? settings.local_id % others_->ports() : 0;
  if (port == 0) {
    UdtLink& link = add_link(settings, outcome.proved);
    link.handshake_reply = outcome.reply;
    link.connection.handle_handshake_data(now, outcome.timestamp_us,
                                          {outcome.handshake_data, train.chunk, train.arrived});
    return admission_.on_link(link);
  }
  connections_.add_elsewhere(settings.local_id,
                             {port, {settings.peer_address, settings.peer_id}, outcome.proved, outcome.reply});
  admission_.on_channel(
      others_->adopt({.port = port,
                      .settings = settings,
                      .proved = outcome.proved,
                      .timestamp_us = outcome.timestamp_us,
                      .handshake_data = {outcome.handshake_data.begin(), outcome.handshake_data.end()},
                      .arrived = train.arrived}));
}

/// The client's first packets may be here before this: they go by way of the first port, which posts them behind it.
UdtLink& UdpPort::adopt(const AdoptedLink& adopted) {
  UdtLink& link = add_link(adopted.settings, adopted.proved);
  Arrival data{{}, chunks_.acquire(), adopted.arrived};
  if (!data.chunk.empty()) {
    std::ranges::copy(adopted.handshake_data, data.chunk.bytes().begin());
    data.payload = std::span<const std::byte>(data.chunk.bytes()).first(adopted.handshake_data.size());
    link.connection.handle_handshake_data(clock_now(), adopted.timestamp_us, data);
  }
  return link;
}

void UdpPort::handle_reset(const StatelessReset& reset, std::span<const std::byte> packet,
                           const net::ReceivedTrain& train) {
  const PeerName name{train.from, reset.id};
  if (const auto elsewhere = connections_.find_elsewhere(name))
    return others_->hand_over(connections_.find_elsewhere(*elsewhere)->port, packet, train);
  UdtLink* const meant = connections_.find(name);
  if (meant == nullptr) return;
  meant->connection.handle_reset(reset.token);
  touch(*meant);
}

/// A message whose transaction id has the number of a connection where others have theirs is lost: one in 2^31.
bool UdpPort::handle_stun(std::span<const std::byte> packet, const net::ReceivedTrain& train) {
  if (!on_stun_ || tunnel_.is_at(train.from) || !net::is_stun(packet)) return false;
  stun_train_ = &train;
  on_stun_(train.from, packet);
  stun_train_ = nullptr;
  return true;
}

/// Best effort: a peer that does not get the answer asks again.
void UdpPort::answer(std::vector<std::byte> packet, const net::ReceivedTrain& to) {
  if (!packet.empty()) std::ignore = transmitter_.send_alone(std::move(packet), to.from, to.to);
}

void UdpPort::send_stun(const Endpoint& peer, std::vector<std::byte> message) {
  const bool is_answer = stun_train_ != nullptr && stun_train_->from == peer;
  std::ignore = transmitter_.send_alone(std::move(message), peer, is_answer ? stun_train_->to : std::nullopt);
}

void UdpPort::touch(UdtLink& link) {
  if (link.touch()) touched_.push_back(&link);
}

void UdpPort::flush_touched() {
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    if (touched_[i] == nullptr) continue;
    UdtLink& link = *touched_[i];
    link.clear_touch();
    coalescing_.on_connection(link.connection.rtt());
    link.connection.note_host_overloads(link.share.overloads);
    flush(link);
  }
  touched_.clear();
}

// ---- Connections --------------------------------------------------------------------------------------------------

Status UdpPort::open(const Endpoint& peer, core::SharedBytes handshake_data, std::chrono::milliseconds patience,
                     EmbryonicConnections::Handler handler) {
  UDTCAT_TRY(const PassiveOpen::Numbers numbers, draw_numbers(peer, 0));
  UDTCAT_TRY(const std::uint64_t random, crypto::random_u64());
  const OpenRequest request{.peer = peer,
                            .local_id = numbers.local_id,
                            .initial_sequence = static_cast<std::uint32_t>(random) & kSequenceMask,
                            .mss = mss_,
                            .flow_window = kFirstFlowWindow,
                            .token = numbers.token,
                            .known_cookie = admission_.known_cookie(),
                            .key_proof = admission_.key_proof(),
                            .handshake_data = std::move(handshake_data),
                            .remembered_cookie = path_to(peer).value_or(KnownPath()).cookie};
  embryonic_.add(request, patience, std::move(handler));
  return {};
}

/// Numbers of a connection to `peer`, which are free.
/// port   of the ports of this address, the connection's
Result<PassiveOpen::Numbers> UdpPort::draw_numbers(const Endpoint& peer, std::uint32_t port) {
  UDTCAT_TRY(const std::uint64_t random, crypto::random_u64());
  const std::uint32_t step = others_ != nullptr ? others_->ports() : 1;
  auto id = static_cast<std::uint32_t>(random) & kSequenceMask;
  id = id - id % step + port;
  while (!is_free(id)) id = id > kSequenceMask - step ? port : id + step;
  UDTCAT_TRY(const std::uint64_t token, admission_.draw_token(id, peer));
  return PassiveOpen::Numbers{id, token};
}

bool UdpPort::is_free(std::uint32_t id) const {
  return id != 0 && id <= kSequenceMask && connections_.find(id) == nullptr &&
         connections_.find_elsewhere(id) == nullptr && !embryonic_.contains(id);
}

UdtLink& UdpPort::connect(TimePoint now, const ConnectionSettings& agreed) {
  UdtLink& link = add_link(complete(now, agreed), false);
  flush(link);
  return link;
}

ConnectionSettings UdpPort::complete(TimePoint now, ConnectionSettings settings) const {
  settings.options = options_;
  if (memory_share_) settings.options.memory_bytes = memory_share_(connections_.size());
  settings.started = now;
  // Of several connections to a peer one alone begins as fast as all of them were.
  if (!connections_.has_host(settings.peer_address)) settings.path = path_to(settings.peer_address);
  settings.random_seed = crypto::random_u64().value_or(static_cast<std::uint64_t>(now.time_since_epoch().count()));
  return settings;
}

UdtLink& UdpPort::add_link(ConnectionSettings settings, bool proved_key) {
  settings.group = flow_groups_->to_host_of(settings.peer_address);
  return connections_.add(std::make_unique<UdtLink>(*this, io_, settings, proved_key, chunks_));
}

/// Every event of a connection ends here: data that came go to the user, packets that may leave leave, and the timer is
/// set.
void UdpPort::flush(UdtLink& link) {
  link.tell_received();
  transmitter_.transmit(link.connection);
  link.tell_sent();
  log_trains_off(link);
  if (link.connection.over() && link.state() == UdtLink::State::released) return forget(link);
  const TimePoint now = clock_now();
  auto deadline = link.connection.deadline(now);
  // Where the socket has no room all are flushed when it has again.
  if (deadline && transmitter_.blocked() && *deadline <= now) return;
  if (deadline) deadline = std::max(*deadline, now + kLeastTimer);
  link.arm(deadline);
}

void UdpPort::on_timer(UdtLink& link) {
  link.connection.handle_timeout(clock_now());
  rebind_if_silent(clock_now(), link);
  flush(link);
}

void UdpPort::forget(UdtLink& link) {
  const UdtConnection& connection = link.connection;
  if (others_ != nullptr && !leads_)
    others_->on_forgotten(connection);
  else if (connection.state() == UdtConnection::State::closed)
    admission_.on_closed(clock_now(), connection);
  note_path(connection);
  transmitter_.forget(connection);
  std::replace(touched_.begin(), touched_.end(), &link, static_cast<UdtLink*>(nullptr));
  connections_.erase(link);
}

void UdpPort::forget_elsewhere(std::uint32_t id, const Endpoint& peer, std::vector<std::byte> shutdown) {
  if (!shutdown.empty()) admission_.on_closed(clock_now(), id, peer, std::move(shutdown));
  connections_.erase_elsewhere(id);
}

// ---- Paths --------------------------------------------------------------------------------------------------------

void UdpPort::take_path_errors(TimePoint now) {
  const auto errors = socket_.take_path_errors(kPathErrorsAtOnce);
  take_path_errors(now, errors);
  if (others_ != nullptr && !errors.empty()) others_->on_path_errors(errors);
}

void UdpPort::take_path_errors(TimePoint now, const std::vector<net::PathError>& errors) {
  for (const net::PathError& error : errors) {
    embryonic_.handle_path_error(error);
    for (const auto& [id, link] : connections_.all()) {
      if (link->connection.peer_address() != error.peer) continue;
      if (error.port_unreachable) link->connection.handle_port_closed(now);
      if (error.path_mtu > 0) link->connection.handle_path_mtu(now, error.path_mtu);
    }
  }
}

std::optional<KnownPath> UdpPort::path_to(const Endpoint& peer) const {
  return options_.known_paths ? options_.known_paths->find(peer) : std::nullopt;
}

/// A relay on this host is no path of the peer's.
void UdpPort::note_path(const UdtConnection& connection) {
  if (!connection.is_at_first_host()) return;
  const Endpoint peer = connection.peer_address();
  if (others_ != nullptr && !leads_)
    others_->note_path(peer, connection.known_path());
  else
    note_path(peer, connection.known_path());
}

void UdpPort::log_trains_off(UdtLink& link) {
  const UdtConnection& connection = link.connection;
  if (!connection.trains_off() || std::exchange(link.trains_off, true)) return;
  core::log().warn(
      "the path to {} loses trains of datagrams that the system cuts (UDP_SEGMENT): they go one by one for an hour",
      connection.peer_address().to_string());
  note_path(connection);
}

/// A NAT, a firewall or a router on the way may have forgotten this port, or remember it wrongly.
void UdpPort::rebind_if_silent(TimePoint now, const UdtLink& link) {
  if (!may_rebind_ || left_.size() == kMaxRebinds || transmitter_.blocked() || !link.connection.is_at_first_host() ||
      link.connection.tries_path())
    return;
  const auto since = link.connection.unanswered_since();
  if (!since || now - std::max(*since, rebound_at_) < kRebindSilence * (1U << left_.size())) return;
  const auto rebound = rebind();
  rebound_at_ = now;
  const std::string peer = link.connection.peer_address().to_string();
  if (rebound)
    core::log().info("{} is silent: packets leave from another port of this host", peer);
  else
    core::log().info("{} is silent: {}", peer, rebound.error().message());
}

Status UdpPort::rebind() {
  UDTCAT_TRY(net::UdpSocket socket, net::UdpSocket::open(local_.family()));
  UDTCAT_CHECK(socket.bind(local_.with_port(0)));
  UDTCAT_TRY(net::DatagramSocket fresh, net::DatagramSocket::make(std::move(socket), socket_options(options_, mss_)));
  const bool watched = wait_.is_watching();
  wait_.stop_watching();
  left_.push_back(std::exchange(socket_, std::move(fresh)));
  transmitter_.on_new_socket();
  if (watched) wait_readable();
  return {};
}

// ---- The end ------------------------------------------------------------------------------------------------------

void UdpPort::finish() {
  admission_.stop_listening();
  embryonic_.clear();
  while (!connections_.empty()) {
    const TimePoint now = clock_now();
    TimePoint next = now + 100ms;
    std::vector<UdtLink*> all;
    all.reserve(connections_.all().size());
    for (const auto& [id, link] : connections_.all()) all.push_back(link.get());
    transmitter_.unblock();
    for (UdtLink* const link : all) {
      if (link->state() == UdtLink::State::unaccepted) link->connection.close(now, 0ms);
      link->connection.shorten_shutdown(now);
      link->connection.handle_timeout(now);
      transmitter_.transmit(link->connection);
      const auto deadline = link->connection.deadline(clock_now());
      if (link->connection.over() || link->connection.port_closed_since() || !deadline)
        forget(*link);
      else
        next = std::min(next, *deadline);
    }
    if (connections_.empty()) return;
    net::wait_readable(socket_.readable_descriptor(), std::max<Duration>(next - clock_now(), kLeastTimer));
    for (int turn = 0; turn < kTurns && receive_some() == kTrainsAtOnce; ++turn) continue;
    take_path_errors(clock_now());  // while there is one the wait ends at once
    for (UdtLink* const link : touched_) link->clear_touch();
    touched_.clear();
  }
}

}  // namespace udtcat::transport::native
