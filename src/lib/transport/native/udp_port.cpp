// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/udp_port.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <boost/asio/post.hpp>

#include <udtcat/units.hpp>

#include "lib/core/try.hpp"
#include "lib/crypto/secret_bytes.hpp"
#include "lib/transport/native/handshake.hpp"

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kChunkBytes = 64 * kKiB;  // spec: a GRO train is at most this, as is a datagram
constexpr std::size_t kLeastBufferShare = 768;  // measured: what the smallest datagram takes of Linux's receive buffer
constexpr std::uint64_t kBacklogShare = 2;      // measured: ADR-0030
constexpr std::size_t kTrainsAtOnce = 8;        // guess: half a megabyte, which a cache still holds
constexpr int kTurns = 4;                       // guess: then others on this thread have theirs
constexpr std::size_t kMaxTrainBytes = 65'000;  // spec: UDP over IPv4 carries 65507
constexpr std::uint32_t kWakesPerErrorCheck = 32;  // guess: a busy socket does not tell of errors by itself
constexpr std::size_t kMaxLinks = 4096;            // guess: some 20 kB each
constexpr Duration kLeastTimer = 20us;             // guess: a deadline in the past is now, but not a loop

}  // namespace

Result<std::unique_ptr<UdpPort>> UdpPort::create(boost::asio::io_context& io, net::UdpSocket socket,
                                                 const TransportOptions& options, std::uint32_t mss,
                                                 const PortKeys* keys) {
  UDTCAT_TRY(const Endpoint local, socket.local_endpoint());
  UDTCAT_TRY(net::DatagramSocket datagrams, net::DatagramSocket::make(std::move(socket), socket_options(options, mss)));
  const auto cookie = options.single_use && keys != nullptr ? std::optional(keys->cookie) : std::nullopt;
  UDTCAT_TRY(ListenerGate gate, ListenerGate::create({mss, kFirstFlowWindow, cookie}, local.port(), keys));
  return std::unique_ptr<UdpPort>(new UdpPort(io, std::move(datagrams), local, options, mss, std::move(gate)));
}

UdpPort::UdpPort(boost::asio::io_context& io, net::DatagramSocket socket, const Endpoint& local,
                 const TransportOptions& options, std::uint32_t mss, ListenerGate gate)
    : io_(io),
      local_(local),
      options_(options),
      mss_(mss),
      chunks_(kChunkBytes),
      socket_(std::move(socket)),
      readable_(io),
      writable_(io),
      gather_timer_(io),
      memory_timer_(io),
      buffer_bytes_(socket_.receive_buffer_bytes()),
      moderation_(buffer_bytes_),
      gate_(std::move(gate)),
      openings_(io, {.send = [this](auto packet, const Endpoint& to) { return send_alone(std::move(packet), to, {}); },
                     .connect = [this](TimePoint now, const ConnectionSettings& agreed) -> UdtLink& {
                       return connect(now, agreed);
                     }}),
      builder_(socket_.max_train_datagrams(), kMaxTrainBytes),
      stray_(1, kMaxTrainBytes) {
  wait_readable();
}

UdpPort::~UdpPort() {
  if (readable_.is_open()) readable_.release();  // the descriptor is socket_'s
}

// ---- Datagrams in -------------------------------------------------------------------------------------------------

void UdpPort::wait_readable() {
  boost::system::error_code no_room;  // in the system, to watch one more descriptor
  if (!readable_.is_open()) readable_.assign(socket_.readable_descriptor(), no_room);
  if (no_room) return wait_gathered(WakeModeration::kMaxGather);
  readable_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                       lifetime_.guard([this](const boost::system::error_code& error) {
                         if (!error) on_readable();
                       }));
}

void UdpPort::wait_gathered(Duration gather) {
  // A watched socket wakes the io_context with each datagram, also where none is waited for.
  if (readable_.is_open()) readable_.release();
  gather_timer_.expires_after(gather);
  gather_timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& error) {
    if (!error) on_readable();
  }));
}

void UdpPort::on_readable() {
  std::size_t received = 0;
  bool emptied = false;
  woken_bytes_ = 0;
  least_rtt_ = Duration::max();
  for (int turn = 0; turn < kTurns && !emptied; ++turn) {
    const std::size_t trains = receive_some();
    settle_touched();
    received += trains;
    emptied = trains < kTrainsAtOnce;
    if (emptied) begin_backlog();
  }
  if (received == 0 || ++wakes_ % kWakesPerErrorCheck == 0) take_path_errors(clock_now());
  // Packets that are there must not wait until the system has no room for more.
  if (!emptied) return boost::asio::post(io_, lifetime_.guard([this] { on_readable(); }));
  const Duration gather = moderation_.after_wake(clock_now(), woken_bytes_, least_rtt_);
  if (gather == Duration::zero()) return wait_readable();
  wait_gathered(gather);
}

std::size_t UdpPort::receive_some() {
  const std::size_t received = socket_.receive(trains_, kTrainsAtOnce, chunks_);
  // The clock is read after the packets: where this thread lost the processor in between, those that came meanwhile
  // would else be older than they are, and the least round trip shorter than the path's.
  const TimePoint now = clock_now();
  std::size_t taken_bytes = 0;
  for (const net::ReceivedTrain& train : trains_) {
    taken_bytes += std::max(train.total_bytes, kLeastBufferShare);
    if (into_tunnel_ && train.from == tunnel_) continue;  // a forged address: no host has it
    handle_train(now, train);
  }
  woken_bytes_ += taken_bytes;
  note_backlog(taken_bytes);
  trains_.clear();
  return received;
}

void UdpPort::begin_backlog() {
  backlog_bytes_ = 0;
  ++backlog_number_;
}

/// Much was to be read before the sockets were empty, or some had no room any more: the senders of it slow down.
void UdpPort::note_backlog(std::size_t taken_bytes) {
  backlog_bytes_ += taken_bytes;
  const std::uint64_t drops = socket_.receive_drops();
  if (std::exchange(drops_told_, drops) == drops && backlog_bytes_ < buffer_bytes_ / kBacklogShare) return;
  tell_overload();
  begin_backlog();  // a backlog that stands is told again
}

/// One that brought little is left alone.
void UdpPort::tell_overload() {
  std::uint64_t all_bytes = 0;
  std::uint64_t senders = 0;
  const auto brought = [this](const UdtLink& link) -> std::uint64_t {
    return link.backlog_number == backlog_number_ ? link.backlog_bytes : 0;
  };
  for (const auto& [id, link] : links_) {
    all_bytes += brought(*link);
    if (brought(*link) > 0) ++senders;
  }
  for (const auto& [id, link] : links_)
    if (brought(*link) > 0 && brought(*link) * 2 * senders >= all_bytes) ++link->overloads;
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
  if (*id == 0) return handle_listener_packet(now, packet, train);
  if (const auto found = links_.find(*id); found != links_.end()) {
    UdtLink& link = *found->second;
    link.connection.handle_packet(now, packet, train.from, train.to, {{}, train.chunk, train.arrived});
    if (std::exchange(link.backlog_number, backlog_number_) != backlog_number_) link.backlog_bytes = 0;
    link.backlog_bytes += packet.size();
    return touch(link);
  }
  if (openings_.handle_packet(now, *id, packet, train.from)) return;
  answer(gate_.answer_stray(now, *id, packet, train.from), train);
}

void UdpPort::touch(UdtLink& link) {
  if (!std::exchange(link.touched, true)) touched_.push_back(&link);
}

void UdpPort::settle_touched() {
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    if (touched_[i] == nullptr) continue;
    UdtLink& link = *touched_[i];
    link.touched = false;
    least_rtt_ = std::min(least_rtt_, link.connection.rtt());
    link.connection.note_host_overloads(link.overloads);
    settle(link);
  }
  touched_.clear();
}

// ---- Listening ----------------------------------------------------------------------------------------------------

void UdpPort::handle_listener_packet(TimePoint now, std::span<const std::byte> packet,
                                     const net::ReceivedTrain& train) {
  if (const auto reset = decode_reset(packet)) return handle_reset(*reset, train.from);
  if (UdtLink* link = known_client(packet, train.from)) return answer(link->handshake_reply, train);
  if (!listening_) return answer(gate_.refuse(now, packet, train.from), train);
  auto verdict = gate_.handle(now, packet, train.from, [&](bool proved) { return admit(proved, train.from); });
  if (verdict.accepted) {
    verdict.accepted->local_address = train.to;
    UdtLink& link = add_link(now, *verdict.accepted, verdict.proved);
    link.handshake_reply = verdict.reply;
    link.connection.handle_first_words(now, verdict.timestamp_us, {verdict.first_words, train.chunk, train.arrived});
    listening_->on_link(link);
  }
  answer(std::move(verdict.reply), train);
}

void UdpPort::handle_reset(const StatelessReset& reset, const Endpoint& from) {
  const auto meant = by_peer_.find({from, reset.id});
  if (meant == by_peer_.end()) return;
  meant->second->connection.handle_reset(reset.token);
  touch(*meant->second);
}

/// A client asks again because our answer was lost: it gets the same.
UdtLink* UdpPort::known_client(std::span<const std::byte> packet, const Endpoint& from) {
  const auto request = decode_handshake(packet.subspan(kHeaderBytes));
  if (!request || request->request != Request::conclusion) return nullptr;
  const auto known = by_peer_.find({from, request->socket_id});
  return known != by_peer_.end() && !known->second->handshake_reply.empty() ? known->second : nullptr;
}

/// Clients that have proved the key have places of their own, so that strangers cannot take them all.
std::optional<PassiveOpen::Numbers> UdpPort::admit(bool proved, const Endpoint& from) {
  const std::size_t alike = proved ? proved_links_ : links_.size() - proved_links_;
  if (alike >= kMaxLinks || !listening_->has_room(proved)) return std::nullopt;
  const auto numbers = draw_numbers(from);
  return numbers ? std::optional(*numbers) : std::nullopt;
}

/// Numbers of a connection to `peer`, which are free.
Result<PassiveOpen::Numbers> UdpPort::draw_numbers(const Endpoint& peer) {
  UDTCAT_TRY(const std::uint64_t random, crypto::random_u64());
  auto id = static_cast<std::uint32_t>(random) & kSequenceMask;
  while (id == 0 || links_.contains(id) || openings_.contains(id)) id = (id + 1) & kSequenceMask;
  UDTCAT_TRY(const std::uint64_t token, gate_.draw_token(id, peer));
  return PassiveOpen::Numbers{id, token};
}

// ---- Links --------------------------------------------------------------------------------------------------------

Status UdpPort::open(const Endpoint& peer, core::SharedBytes first_words, std::chrono::milliseconds patience,
                     Openings::Handler handler) {
  UDTCAT_TRY(const PassiveOpen::Numbers numbers, draw_numbers(peer));
  UDTCAT_TRY(const std::uint64_t random, crypto::random_u64());
  const OpenRequest request{.peer = peer,
                            .local_id = numbers.local_id,
                            .initial_sequence = static_cast<std::uint32_t>(random) & kSequenceMask,
                            .mss = mss_,
                            .flow_window = kFirstFlowWindow,
                            .token = numbers.token,
                            .known_cookie = gate_.known_cookie(),
                            .key_proof = gate_.key_proof(),
                            .first_words = std::move(first_words),
                            .remembered_cookie = path_to(peer).value_or(KnownPath()).cookie};
  openings_.add(request, patience, std::move(handler));
  return {};
}

UdtLink& UdpPort::add_link(TimePoint now, ConnectionSettings settings, bool proved_key) {
  settings.options = options_;
  if (memory_share_) settings.options.memory_bytes = memory_share_(links_.size());
  settings.started = now;
  settings.path = path_to(settings.peer_address);
  // Of several connections to a peer one alone begins as fast as all of them were.
  const auto same = [host = settings.peer_address.with_port(0)](const auto& each) {
    return each.second->connection.peer_address().with_port(0) == host;
  };
  if (settings.path && std::ranges::any_of(links_, same)) settings.path.reset();
  settings.random_seed = crypto::random_u64().value_or(static_cast<std::uint64_t>(now.time_since_epoch().count()));
  auto made = std::make_unique<UdtLink>(io_, settings, proved_key, chunks_);
  UdtLink& link = *links_.emplace(settings.local_id, std::move(made)).first->second;
  link.trains_off = link.connection.trains_off();
  by_peer_.insert_or_assign(link.name, &link);
  if (proved_key) ++proved_links_;
  return link;
}

UdtLink& UdpPort::connect(TimePoint now, const ConnectionSettings& agreed) {
  UdtLink& link = add_link(now, agreed, false);
  settle(link);
  return link;
}

void UdpPort::use(UdtLink& link, std::function<void()> on_progress) {
  link.state = UdtLink::State::used;
  link.on_progress = std::move(on_progress);
  schedule(link);
}

void UdpPort::release(UdtLink& link) {
  link.state = UdtLink::State::released;
  link.on_progress = nullptr;
  link.connection.close(clock_now(), 0ms);  // unless its user has
  schedule(link);
}

void UdpPort::schedule(UdtLink& link) {
  if (std::exchange(link.flush_scheduled, true)) return;
  boost::asio::post(io_, lifetime_.guard([this, id = link.connection.local_id()] {
    const auto found = links_.find(id);
    if (found == links_.end()) return;
    found->second->flush_scheduled = false;
    settle(*found->second);
  }));
}

/// Every event of a connection ends here: received data goes to the user, packets that may leave leave, and the timer
/// is set.
void UdpPort::settle(UdtLink& link) {
  if (link.on_progress) link.on_progress();
  transmit(link);
  if (link.on_progress) link.on_progress();
  tell_trains_off(link);
  if (link.connection.over() && link.state == UdtLink::State::released) return forget(link);
  arm(link, clock_now());
}

void UdpPort::transmit(UdtLink& link) {
  if (blocked_ != nullptr) return;  // every link waits until the socket has room again
  for (;;) {
    builder_.clear();
    if (!link.connection.poll_transmit(clock_now(), builder_)) return;
    if (!send(link)) return;
  }
}

/// Sends what is in builder_. False: the rest of it waits there for the socket.
bool UdpPort::send(UdtLink& link) {
  const bool may_fragment = builder_.train().may_fragment;
  if (may_fragment != may_fragment_) socket_.probe_path_mtu(!(may_fragment_ = may_fragment));
  const auto result = send(builder_.train());
  switch (result.state) {
    case net::SendState::sent:
      return true;
    case net::SendState::would_block:
    case net::SendState::no_memory:
      builder_.drop_front(result.datagrams);
      builder_.keep();
      blocked_ = &link;
      if (result.state == net::SendState::would_block)
        wait_writable();
      else
        wait_for_memory();
      return false;
    case net::SendState::too_large:
      link.connection.handle_too_large(clock_now(), builder_.train());
      return true;
    case net::SendState::failed:
      // The address that the peer knows us by may be ours no more: it follows.
      if (result.errno_value == EINVAL && builder_.train().from) {
        builder_.drop_front(result.datagrams);
        builder_.train().from.reset();
        link.connection.forget_local_address();
        return send(link);
      }
      return true;  // as if the path had lost it: an interface may come back
  }
  return true;
}

void UdpPort::send_what_waited() {
  UdtLink* const link = std::exchange(blocked_, nullptr);  // none: it was forgotten meanwhile
  if (link != nullptr && !send(*link)) return;
  for (const auto& [id, each] : links_) schedule(*each);
}

void UdpPort::wait_for_memory() {
  constexpr auto kPatience = std::chrono::milliseconds(1);  // guess: a queue of a thousand packets at 10 Gbit/s
  memory_timer_.expires_after(kPatience);
  memory_timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) send_what_waited();
  }));
}

void UdpPort::wait_writable() {
  if (writable_.is_open()) return;  // awaited
  // A descriptor of its own, and only so long: a watched socket wakes the io_context with each datagram.
  auto watched = socket_.socket().duplicate();
  boost::system::error_code no_room;
  if (watched) writable_.assign(watched->descriptor(), no_room);
  if (!watched || no_room) return wait_for_memory();
  std::ignore = watched->release();
  writable_.async_wait(boost::asio::posix::stream_descriptor::wait_write,
                       lifetime_.guard([this](const boost::system::error_code& error) {
                         writable_.close();
                         if (!error) send_what_waited();
                       }));
}

/// Best effort: a peer that does not get the answer asks again.
void UdpPort::answer(std::vector<std::byte> packet, const net::ReceivedTrain& to) {
  if (!packet.empty()) std::ignore = send_alone(std::move(packet), to.from, to.to);
}

net::SendResult UdpPort::send_alone(std::vector<std::byte> packet, const Endpoint& to,
                                    const std::optional<Endpoint>& from) {
  stray_.set_control(std::move(packet));
  stray_.train().to = to;
  stray_.train().from = from;
  return send(stray_.train());
}

void UdpPort::arm(UdtLink& link, TimePoint now) {
  auto deadline = link.connection.deadline(now);
  if (!deadline) {
    link.timer.cancel();
    link.armed_for = TimePoint::max();
    return;
  }
  if (blocked_ != nullptr && *deadline <= now) return;  // all are settled when the socket has room again
  deadline = std::max(*deadline, now + kLeastTimer);
  if (link.armed_for <= *deadline) return;  // the timer will then be set anew
  link.armed_for = *deadline;
  link.timer.expires_at(*deadline);
  link.timer.async_wait(
      lifetime_.guard([this, id = link.connection.local_id()](const boost::system::error_code& error) {
        const auto found = links_.find(id);
        if (error || found == links_.end()) return;
        UdtLink& due = *found->second;
        due.armed_for = TimePoint::max();
        due.connection.handle_timeout(clock_now());
        rebind_if_silent(clock_now(), due);
        settle(due);
      }));
}

void UdpPort::forget(UdtLink& link) {
  const UdtConnection& connection = link.connection;
  if (connection.state() == UdtConnection::State::closed) gate_.remember(clock_now(), connection);
  note_path(connection);
  if (blocked_ == &link) {
    blocked_ = nullptr;
    builder_.clear();
  }
  std::replace(touched_.begin(), touched_.end(), &link, static_cast<UdtLink*>(nullptr));
  if (const auto named = by_peer_.find(link.name); named != by_peer_.end() && named->second == &link)
    by_peer_.erase(named);
  if (link.proved) --proved_links_;
  links_.erase(connection.local_id());
}

// ---- The end ------------------------------------------------------------------------------------------------------

void UdpPort::finish() {
  listening_.reset();
  openings_.clear();
  while (!links_.empty()) {
    const TimePoint now = clock_now();
    TimePoint next = now + 100ms;
    std::vector<UdtLink*> all;
    for (const auto& [id, link] : links_) all.push_back(link.get());
    blocked_ = nullptr;  // what waited for room goes again when it is missed
    for (UdtLink* const link : all) {
      if (link->state == UdtLink::State::unaccepted) link->connection.close(now, 0ms);
      link->connection.shorten_goodbye(now);
      link->connection.handle_timeout(now);
      transmit(*link);
      const auto deadline = link->connection.deadline(clock_now());
      if (link->connection.over() || !deadline)
        forget(*link);
      else
        next = std::min(next, *deadline);
    }
    if (links_.empty()) return;
    net::wait_readable(socket_.readable_descriptor(), std::max<Duration>(next - clock_now(), kLeastTimer));
    for (int turn = 0; turn < kTurns && receive_some() == kTrainsAtOnce; ++turn) continue;
    for (UdtLink* const link : touched_) link->touched = false;
    touched_.clear();
  }
}

}  // namespace udtcat::transport::native
