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
#include "lib/connection/handshake_backlog.hpp"
#include "lib/connection/joining_flows.hpp"
#include "lib/connection/multiplexer.hpp"
#include "lib/connection/port_secrets.hpp"
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

class SessionListener final : public Listener {
 public:
  SessionListener(boost::asio::io_context& io, ListenRequest request, std::shared_ptr<transport::Engine> engine,
                  std::unique_ptr<transport::Acceptor> acceptor, PeerHandler on_peer, RefusalHandler on_refused)
      : io_(io),
        request_(std::move(request)),
        engine_(std::move(engine)),
        locals_(acceptor->local_endpoints()),
        acceptor_(std::move(acceptor)),
        on_peer_(std::move(on_peer)),
        on_refused_(std::move(on_refused)),
        awaited_(
            io, [this](std::unique_ptr<session::Session> session) { connect(std::move(session)); }, on_refused_),
        admission_(std::make_shared<Admission>(request_.limits, request_.transport.memory_bytes)) {
    for (const FurtherApplication& each : request_.further)
      further_.push_back({each.session, std::make_shared<Admission>(each.limits, request_.transport.memory_bytes)});
    acceptor_->share_memory([admission = admission_](std::size_t others) { return admission->share_bytes(others); });
    accept_on();
  }

  [[nodiscard]] std::vector<Endpoint> local_endpoints() const override { return locals_; }

  void send_stun(const Endpoint& peer, std::vector<std::byte> message) override {
    if (acceptor_) acceptor_->send_stun(peer, std::move(message));
  }
  void on_stun(StunHandler handler) override {
    if (acceptor_) acceptor_->on_stun(std::move(handler));
  }

  void stop() override {
    acceptor_.reset();
    pending_.clear();
    backlog_.clear();
    awaited_.clear();
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

  void accept_on() {
    if (accepting_ || !acceptor_) return;
    // A connection that gives way costs libudt a megabyte for seconds: there the next waits until one has left.
    if (request_.transport.kind == TransportKind::libudt && backlog_.full_of_unproved()) return;
    accepting_ = true;
    acceptor_->async_accept(lifetime_.guard([this](Result<std::unique_ptr<transport::Channel>> channel) {
      accepting_ = false;
      if (!acceptor_) return;
      if (channel)
        start_handshake(std::move(*channel));
      else
        core::log().warn("{}", channel.error().message());
      accept_on();
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
          take_session(std::move(*session));
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
          if (auto joined = awaited_.join(join, std::move(joining)); !joined) on_refused_(peer, joined.error());
        }));
    pending.handshake->start(std::move(channel));
  }

  void take_session(std::unique_ptr<session::Session> session) {
    if (session->join_key() == nullptr) return connect(std::move(session));
    const Endpoint peer = session->peer();
    if (auto kept = awaited_.add(std::move(session)); !kept) on_refused_(peer, kept.error());
  }

  void connect(std::unique_ptr<session::Session> session) {
    const Endpoint peer = session->peer();
    const auto known_peers = known_peers_of(credentials());
    // Between its proof and its last flow a peer may have been taken out.
    const auto& identity = session->agreed().peer;
    if (identity)
      if (const auto known = known_peers->recognise(identity->key, session->agreed().application); !known)
        return on_refused_(peer, known.error());
    const std::string& application = session->agreed().application;
    auto place = Admission::enter(admission_for(application), peer, identity, session->retained_limit_bytes());
    // The connection keeps the engine alive, and its place.
    using EngineAndSlot = std::pair<std::shared_ptr<transport::Engine>, Admission::Slot>;
    auto kept = std::make_shared<EngineAndSlot>(engine_, place ? std::move(*place) : Admission::Slot());
    const Further* const other = further(application);
    const SessionOptions options = other != nullptr ? other->session : request_.session;
    auto connection = Multiplexer::create(io_, std::move(session), options, std::move(kept), known_peers);
    if (!connection) return on_refused_(peer, connection.error());
    if (!place) return turn_away(std::move(*connection), place.error());
    // Posted: the caller is the handshake itself, and the owner may stop or destroy this listener.
    boost::asio::post(
        io_, lifetime_.guard([this, made = std::make_shared<std::unique_ptr<Connection>>(std::move(*connection))] {
          if (acceptor_) on_peer_(std::move(*made));  // else stopped meanwhile
        }));
  }

  /// The peer is told why.
  void turn_away(std::unique_ptr<Connection> connection, const Error& why) {
    on_refused_(connection->peer(), why);
    const auto leaving = leaving_.insert(leaving_.end(), std::move(connection));
    (*leaving)->on_closed(lifetime_.guard([this, leaving](const Status&) {
      boost::asio::post(io_, lifetime_.guard([this, leaving] { leaving_.erase(leaving); }));
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
      on_refused_(peer, {Errc::out_of_resources, "handshake with " + peer.to_string(),
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
    on_refused_(Endpoint(pending.peer), error);  // a copy: the call may stop us
  }

  boost::asio::io_context& io_;
  const ListenRequest request_;
  const std::shared_ptr<transport::Engine> engine_;
  const std::vector<Endpoint> locals_;
  std::unique_ptr<transport::Acceptor> acceptor_;  // none once stopped
  bool accepting_ = false;
  HandshakeBacklog backlog_;
  Id next_id_ = 0;
  std::map<Id, PendingPeer> pending_;  // as many as the backlog has
  const PeerHandler on_peer_;
  const RefusalHandler on_refused_;
  AwaitedSessions awaited_;
  const std::shared_ptr<Admission> admission_;      // its places may outlive this
  std::vector<Further> further_;                    // likewise
  std::list<std::unique_ptr<Connection>> leaving_;  // turned away, and told so; each for a few seconds
  core::Lifetime lifetime_;
};

}  // namespace

Result<std::unique_ptr<Listener>> listen_directly(boost::asio::io_context& io, ListenRequest request,
                                                  Listener::PeerHandler on_peer, Listener::RefusalHandler on_refused) {
  UDTCAT_CHECK(session::check_application(request.session));
  for (const FurtherApplication& each : request.further) UDTCAT_CHECK(session::check_application(each.session));
  // How many flows a peer will ask for is not known when their rate is set: without the user's word it gets one.
  if (!request.transport.rate.unlimited()) request.session.flows = request.session.flows.value_or(1);
  const Credentials* credentials = request.credentials ? &*request.credentials : nullptr;
  UDTCAT_TRY(std::shared_ptr<transport::Engine> engine,
             transport::make_engine(io, share_of_each_flow(request.transport, request.session.flows),
                                    port_secrets(session::Role::listener, credentials)));
  UDTCAT_TRY(auto acceptor, engine->listen(request.locals));
  return std::make_unique<SessionListener>(io, std::move(request), std::move(engine), std::move(acceptor),
                                           std::move(on_peer), std::move(on_refused));
}

}  // namespace udtcat::connection

namespace udtcat {

void Listener::send_check(const Endpoint& peer) { send_stun(peer, net::binding_indication()); }

}  // namespace udtcat
