// SPDX-License-Identifier: Apache-2.0
/// listen(): runs the handshakes of the peers that come, a bounded number at a time, and hands on the connections.
#include <list>
#include <map>
#include <memory>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/peering.hpp>

#include "lib/connection/admission.hpp"
#include "lib/connection/credit.hpp"
#include "lib/connection/direct.hpp"
#include "lib/connection/flow_dialing.hpp"
#include "lib/connection/handshake_backlog.hpp"
#include "lib/connection/multiplexer.hpp"
#include "lib/connection/port_secrets.hpp"
#include "lib/connection/session_table.hpp"
#include "lib/core/cores.hpp"
#include "lib/core/ip_prefix.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "lib/net/stun.hpp"
#include "lib/session/application.hpp"
#include "lib/session/handshake.hpp"
#include "lib/transport/engine.hpp"

namespace udtcat::connection {
namespace {

/// Where a listener waits, by one transport.
struct Port {
  std::shared_ptr<transport::Engine> engine;
  std::unique_ptr<transport::Acceptor> acceptor;
  bool accepting = false;
  bool replaces_flows = false;  ///< flows may join for as long as a session runs
};

/// Those of a listener: the first is by UDP unless the user names another.
struct Ports {
  std::vector<Port> all;
  std::optional<Error> tcp_failure{};  ///< why there is no TCP beside it
};

/// Where payloads are sealed, half of the cores are for the ciphers; of two cores both carry packets as well.
std::size_t packet_threads(Protection protection) {
  const std::size_t cores = core::available_cores();
  const bool seals = protection == Protection::safe || protection == Protection::private_;
  return seals && cores > 2 ? 1 + cores / 2 : cores;
}

Result<Port> bind_port(boost::asio::io_context& io, const ListenRequest& request, TransportKind kind,
                       const std::vector<Endpoint>& locals) {
  TransportOptions options = share_of_each_flow(request.transport, request.session.flows);
  options.kind = kind;
  if (!options.packet_threads) options.packet_threads = packet_threads(request.session.protection);
  const Credentials* const credentials = request.credentials ? &*request.credentials : nullptr;
  Port port;
  UDTCAT_TRY(port.engine, transport::make_engine(io, options, port_secrets(session::Role::listener, credentials)));
  UDTCAT_TRY(port.acceptor, port.engine->listen(locals));
  port.replaces_flows = port.engine->knows_acknowledged();
  return port;
}

constexpr std::size_t kCoresForFlows = 4;  // measured: ADR-0076: two flows on two threads, of 2 cores: 0.84 of one
constexpr int kPortDraws = 16;  // guess: that so many free UDP ports are taken by TCP does not happen by chance

/// TCP waits at the same number. Where the system chooses that, it is drawn again while another program has it for TCP.
Result<Ports> bind_ports(boost::asio::io_context& io, const ListenRequest& request) {
  const TransportKind kind = request.transport.kind;
  const bool draws = std::ranges::all_of(request.locals, [](const Endpoint& each) { return each.port() == 0; });
  for (int draw = 1;; ++draw) {
    Ports ports;
    UDTCAT_TRY(ports.all.emplace_back(), bind_port(io, request, kind, request.locals));
    if (kind != TransportKind::automatic) return ports;
    auto tcp = bind_port(io, request, TransportKind::tcp, ports.all.front().acceptor->local_endpoints());
    if (tcp) {
      ports.all.push_back(std::move(*tcp));
      return ports;
    }
    if (draws && draw < kPortDraws && tcp.error().code == Errc::cannot_bind) continue;
    ports.tcp_failure = std::move(tcp.error());
    return ports;
  }
}

/// The ports of a listener. They outlast it: further flows of its sessions come there.
///
///   listening ──stop()──► for flows alone ──the last session that may have more is over──► closed
///
/// Threads: confined, as Listener.
class ListenerPorts final : public std::enable_shared_from_this<ListenerPorts> {
 public:
  ListenerPorts(boost::asio::io_context& io, ListenRequest request, Ports ports, Listener::PeerHandler on_peer,
                Listener::RefusalHandler on_refused)
      : io_(io),
        request_(std::move(request)),
        ports_(std::move(ports.all)),
        tcp_failure_(std::move(ports.tcp_failure)),
        locals_(ports_.front().acceptor->local_endpoints()),
        on_peer_(std::move(on_peer)),
        on_refused_(std::move(on_refused)),
        admission_(std::make_shared<Admission>(request_.limits, request_.transport.memory_bytes)) {
    for (const FurtherApplication& each : request_.further)
      further_.push_back({each.session, std::make_shared<Admission>(each.limits, request_.transport.memory_bytes)});
    for (Port& port : ports_)
      port.acceptor->share_memory(
          [admission = admission_](std::size_t others) { return admission->share_bytes(others); });
    // Posted: the last session's end is told from inside.
    table_->on_empty(
        lifetime_.guard([this] { boost::asio::post(io_, lifetime_.guard([this] { close_needless_ports(); })); }));
    // Of few cores the ciphers need those that a session's flows would have.
    if (core::available_cores() < kCoresForFlows)
      for (Port& port : ports_)
        port.acceptor->keep_beside([table = table_](std::span<const std::byte> words) { return table->takes(words); });
    accept_on();
  }

  [[nodiscard]] std::vector<Endpoint> local_endpoints() const { return locals_; }

  [[nodiscard]] std::vector<Endpoint> tcp_endpoints() const {
    return ports_.size() > 1 ? locals_ : std::vector<Endpoint>();
  }
  [[nodiscard]] std::optional<Error> tcp_failure() const { return tcp_failure_; }

  void send_stun(const Endpoint& peer, std::vector<std::byte> message) {
    if (!stopped_) ports_.front().acceptor->send_stun(peer, std::move(message));
  }
  void on_stun(Listener::StunHandler handler) {
    if (!stopped_) ports_.front().acceptor->on_stun(std::move(handler));
  }

  void on_relay(Listener::RelayHandler handler) {
    if (stopped_) return;
    for (Port& port : ports_) port.acceptor->on_relay(handler);
  }
  void wait_at(const Endpoint& relay, const Listener::RelayToken& token, const std::string& name) {
    if (stopped_) return;
    for (Port& port : ports_) port.acceptor->wait_at(relay, token, name);
  }

  /// Handlers are not called after this.
  void stop() {
    if (std::exchange(stopped_, true)) return;
    pending_.clear();
    backlog_.clear();
    for (Port& port : ports_) {
      if (port.acceptor == nullptr) continue;
      port.acceptor->on_stun(nullptr);
      port.acceptor->on_relay(nullptr);
      port.acceptor->take_only([table = table_](std::span<const std::byte> words) { return table->takes(words); });
    }
    close_needless_ports();
  }
  /// Gives up those that were turned away and have not been told.
  void forget_leaving() {
    leaving_lifetime_.end();
    leaving_.clear();
  }

 private:
  /// A peer that has not proved the key.
  struct PendingPeer {
    explicit PendingPeer(boost::asio::io_context& io) : leaving(io) {}
    Endpoint peer;
    std::unique_ptr<session::Handshake> handshake;
    bool refused = false;  // the channel drains, so that the peer learns why
    boost::asio::steady_timer leaving;
  };
  using Id = HandshakeBacklog::Id;
  [[nodiscard]] const Credentials* credentials() const {
    return request_.credentials ? &*request_.credentials : nullptr;
  }

  /// An application beside the first.
  struct Further {
    SessionOptions session;
    std::shared_ptr<Admission> admission;
  };
  /// Null: the first.
  [[nodiscard]] const Further* further(std::string_view application) const {
    const auto found =
        std::ranges::find_if(further_, [&](const Further& each) { return each.session.application == application; });
    return found == further_.end() ? nullptr : &*found;
  }
  [[nodiscard]] const std::shared_ptr<Admission>& admission_for(std::string_view application) const {
    const Further* const other = further(application);
    return other != nullptr ? other->admission : admission_;
  }
  [[nodiscard]] std::vector<SessionOptions> further_options() const {
    std::vector<SessionOptions> options;
    for (const Further& each : further_) options.push_back(each.session);
    return options;
  }

  /// Once it is stopped the ports that no flow may come to are closed.
  void close_needless_ports() {
    if (!stopped_) return;
    for (Port& port : ports_)
      if (table_->empty() || (!port.replaces_flows && !table_->has_unreplaceable())) port.acceptor.reset();
  }

  void accept_on() {
    for (Port& port : ports_) accept_on(port);
  }

  void accept_on(Port& port) {
    if (port.accepting || port.acceptor == nullptr) return;
    // A connection that gives way costs libudt a megabyte for seconds: there the next waits until one has left.
    if (request_.transport.kind == TransportKind::libudt && backlog_.full_of_unproved()) return;
    port.accepting = true;
    port.acceptor->async_accept(lifetime_.guard([this, &port](Result<std::unique_ptr<transport::Channel>> channel) {
      port.accepting = false;
      if (port.acceptor == nullptr) return;
      if (channel)
        start_handshake(std::move(*channel));
      else
        core::log().warn("{}", channel.error().message());
      accept_on(port);
    }));
  }

  void start_handshake(std::unique_ptr<transport::Channel> channel) {
    const Id id = next_id_++;
    if (const auto gone = backlog_.add(id, channel->proved_key(), core::prefix_of(channel->peer()))) drop(*gone);
    PendingPeer& pending = pending_.try_emplace(id, io_).first->second;
    pending.peer = channel->peer();
    const std::uint64_t stated = channel->retained_limit_bytes();
    pending.handshake = std::make_unique<session::Handshake>(
        io_, session::Role::listener, credentials(), request_.session,
        initial_window_bytes(request_.session, stated > 0 ? stated : request_.transport.memory_bytes),
        lifetime_.guard([this, id](Result<std::unique_ptr<session::Session>> session) {
          if (!session) return refuse(id, session.error());
          finish(id);
          if (!stopped_) connect(std::move(*session));
        }));
    pending.handshake->serve_further(further_options());
    pending.handshake->check_admission(
        [this](const Endpoint& peer, const std::optional<PeerIdentity>& identity, std::string_view application) {
          return admission_for(application)->room_for(peer, identity);
        });
    pending.handshake->take_joins(
        lifetime_.guard([this, id](const session::Join& join, std::unique_ptr<transport::Channel> joining) {
          finish(id);
          const Endpoint peer = joining->peer();
          const auto admit = [this](const session::Session& session, const Endpoint& entered_from,
                                    std::uint64_t bytes) { return admit_flow(session, entered_from, bytes); };
          const auto joined = table_->join(join, std::move(joining), admit);
          if (!joined && joined.error().code == Errc::peer_lost)
            core::log().debug("{}: {}", peer.to_string(), joined.error().message());
          else if (!joined)
            tell_refused(peer, joined.error());
        }));
    pending.handshake->start(std::move(channel));
  }

  Result<std::shared_ptr<void>> admit_flow(const session::Session& session, const Endpoint& entered_from,
                                           std::uint64_t bytes) {
    const session::NegotiatedParameters& agreed = session.agreed();
    UDTCAT_TRY(auto place, Admission::enter_flow(admission_for(agreed.application), entered_from, agreed.peer, bytes));
    return std::make_shared<Admission::Slot>(std::move(place));
  }

  void tell_refused(const Endpoint& peer, const Error& why) {
    if (stopped_) return core::log().debug("{}: {}", peer.to_string(), why.message());
    on_refused_(Endpoint(peer), why);  // a copy: the call may stop us
  }

  void connect(std::unique_ptr<session::Session> session) {
    const Endpoint peer = session->peer();
    const auto known_peers = known_peers_of(credentials());
    // Since it proved its key the peer may have been taken out.
    const auto& identity = session->agreed().peer;
    if (identity)
      if (const auto known = known_peers->recognise(identity->key, session->agreed().application); !known)
        return on_refused_(peer, known.error());
    const std::string& application = session->agreed().application;
    auto place = Admission::enter(admission_for(application), peer, identity, session->retained_limit_bytes());
    // The connection keeps the ports alive, and its place.
    using PortsAndSlot = std::pair<std::shared_ptr<ListenerPorts>, Admission::Slot>;
    auto kept = std::make_shared<PortsAndSlot>(shared_from_this(), place ? std::move(*place) : Admission::Slot());
    const Further* const other = further(application);
    const SessionOptions options = other != nullptr ? other->session : request_.session;
    auto connection = Multiplexer::create(io_, std::move(session), options,
                                          {.keep_alive = std::move(kept), .joined_by = table_}, known_peers);
    if (!connection) return on_refused_(peer, connection.error());
    if (!place) return turn_away(std::move(*connection), place.error());
    // Posted: the caller is the handshake itself, and the owner may stop or destroy this listener.
    boost::asio::post(
        io_, lifetime_.guard([this, made = std::make_shared<std::unique_ptr<Connection>>(std::move(*connection))] {
          if (!stopped_) on_peer_(std::move(*made));
        }));
  }

  /// The peer is told why.
  void turn_away(std::unique_ptr<Connection> connection, const Error& why) {
    on_refused_(connection->peer(), why);
    const auto leaving = leaving_.insert(leaving_.end(), std::move(connection));
    (*leaving)->on_closed(leaving_lifetime_.guard([this, leaving](const Status&) {
      boost::asio::post(io_, leaving_lifetime_.guard([this, leaving] { leaving_.erase(leaving); }));
    }));
    (*leaving)->abort(why);
  }

  /// Posted: the caller may be the handshake that goes.
  void finish(Id id) {
    backlog_.remove(id);  // at once: a handshake that is over is not to be dropped
    boost::asio::post(io_, lifetime_.guard([this, id] { forget(id); }));
  }

  void forget(Id id) {
    backlog_.remove(id);
    pending_.erase(id);
    accept_on();
  }

  /// Posted: the caller may be the handshake that goes.
  void drop(Id id) {
    const auto loser = pending_.extract(id);
    if (loser.empty() || loser.mapped().refused) return;
    boost::asio::post(io_, lifetime_.guard([this, peer = loser.mapped().peer] {
      tell_refused(peer, {Errc::out_of_resources, "handshake with " + peer.to_string(),
                          "others came while it had not proved the key"});
    }));
  }

  void refuse(Id id, const Error& error) {
    PendingPeer& pending = pending_.at(id);
    pending.refused = true;
    pending.leaving.expires_after(session::kRefusalDrain);
    pending.leaving.async_wait(lifetime_.guard([this, id](const boost::system::error_code& cancelled) {
      if (!cancelled) forget(id);
    }));
    // It went away by itself, as a dialer's attempt does that has lost its race: nobody was refused.
    if (error.code == Errc::connection_broken)
      return core::log().debug("{} left before it had a session: {}", pending.peer.to_string(), error.message());
    tell_refused(pending.peer, error);
  }

  boost::asio::io_context& io_;
  const ListenRequest request_;
  std::vector<Port> ports_;  // without acceptors once they are needless
  const std::optional<Error> tcp_failure_;
  const std::vector<Endpoint> locals_;
  bool stopped_ = false;
  HandshakeBacklog backlog_;
  Id next_id_ = 0;
  std::map<Id, PendingPeer> pending_;  // as many as the backlog has
  const Listener::PeerHandler on_peer_;
  const Listener::RefusalHandler on_refused_;
  const std::shared_ptr<SessionTable> table_ = std::make_shared<SessionTable>();
  const std::shared_ptr<Admission> admission_;      // its places may outlive this
  std::vector<Further> further_;                    // likewise
  std::list<std::unique_ptr<Connection>> leaving_;  // turned away, and told so; each for a few seconds
  core::Lifetime leaving_lifetime_;
  core::Lifetime lifetime_;
};

class SessionListener final : public Listener {
 public:
  explicit SessionListener(std::shared_ptr<ListenerPorts> ports) : ports_(std::move(ports)) {}
  ~SessionListener() override {
    ports_->stop();
    ports_->forget_leaving();
  }
  SessionListener(const SessionListener&) = delete;
  SessionListener& operator=(const SessionListener&) = delete;

  [[nodiscard]] std::vector<Endpoint> local_endpoints() const override { return ports_->local_endpoints(); }
  [[nodiscard]] std::vector<Endpoint> tcp_endpoints() const override { return ports_->tcp_endpoints(); }
  [[nodiscard]] std::optional<Error> tcp_failure() const override { return ports_->tcp_failure(); }
  void send_stun(const Endpoint& peer, std::vector<std::byte> message) override {
    ports_->send_stun(peer, std::move(message));
  }
  void on_stun(StunHandler handler) override { ports_->on_stun(std::move(handler)); }
  void on_relay(RelayHandler handler) override { ports_->on_relay(std::move(handler)); }
  void wait_at(const Endpoint& relay, const RelayToken& token, const std::string& name) override {
    ports_->wait_at(relay, token, name);
  }
  void stop() override { ports_->stop(); }

 private:
  const std::shared_ptr<ListenerPorts> ports_;
};

}  // namespace

Result<std::unique_ptr<Listener>> listen_directly(boost::asio::io_context& io, ListenRequest request,
                                                  Listener::PeerHandler on_peer, Listener::RefusalHandler on_refused) {
  UDTCAT_CHECK(session::check_application(request.session));
  for (const FurtherApplication& each : request.further) UDTCAT_CHECK(session::check_application(each.session));
  // How many flows a peer will ask for is not known when their rate is set: without the user's word it gets one.
  if (!request.transport.rate.unlimited()) request.session.flows = request.session.flows.value_or(1);
  UDTCAT_TRY(auto ports, bind_ports(io, request));
  return std::make_unique<SessionListener>(std::make_shared<ListenerPorts>(io, std::move(request), std::move(ports),
                                                                           std::move(on_peer), std::move(on_refused)));
}

}  // namespace udtcat::connection

namespace udtcat {

void Listener::send_check(const Endpoint& peer) { send_stun(peer, net::binding_indication()); }

}  // namespace udtcat
