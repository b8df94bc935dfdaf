/// listen(): lets strangers try, a few at a time, and hands on those that prove the key.
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/peering.hpp>

#include "lib/connection/awaited_sessions.hpp"
#include "lib/connection/multiplexer.hpp"
#include "lib/connection/places.hpp"
#include "lib/connection/rate_share.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/core/log.hpp"
#include "lib/core/prefix.hpp"
#include "lib/session/establish.hpp"
#include "lib/transport/engine.hpp"

namespace udtcat::connection {
namespace {

class Doorman final : public Listener {
 public:
  Doorman(boost::asio::io_context& io, ListenRequest request, std::shared_ptr<transport::Engine> engine,
          std::unique_ptr<transport::Acceptor> acceptor, PeerHandler on_peer, RefusalHandler on_refused)
      : io_(io),
        request_(std::move(request)),
        engine_(std::move(engine)),
        locals_(acceptor->local_endpoints()),
        acceptor_(std::move(acceptor)),
        on_peer_(std::move(on_peer)),
        on_refused_(std::move(on_refused)),
        awaited_(
            io, [this](std::unique_ptr<session::Session> session) { welcome(std::move(session)); }, on_refused_) {
    accept_on();
  }

  [[nodiscard]] std::vector<Endpoint> local_endpoints() const override { return locals_; }

  void stop() override {
    acceptor_.reset();
    strangers_.clear();
    places_.clear();
    awaited_.clear();
  }

 private:
  /// Somebody who has not proved the key: talking, or refused and being told why.
  struct Stranger {
    explicit Stranger(boost::asio::io_context& io) : leaving(io) {}
    Endpoint peer;
    std::unique_ptr<session::Establishing> establishing;
    bool refused = false;  // and being told why
    boost::asio::steady_timer leaving;
  };
  using Place = Places::Id;

  void accept_on() {
    if (accepting_ || !acceptor_) return;
    // A connection that gives way costs libudt a megabyte for seconds: there the next waits until one has left.
    if (request_.transport.kind == TransportKind::libudt && places_.full_of_strangers()) return;
    accepting_ = true;
    acceptor_->async_accept(lifetime_.guard([this](Result<std::unique_ptr<transport::Channel>> channel) {
      accepting_ = false;
      if (!acceptor_) return;
      if (channel)
        greet(std::move(*channel));
      else
        core::log().warn("{}", channel.error().message());
      accept_on();
    }));
  }

  void greet(std::unique_ptr<transport::Channel> channel) {
    const Place place = next_place_++;
    if (const auto gone = places_.take(place, channel->proved_key(), core::prefix_of(channel->peer()))) give_way(*gone);
    Stranger& stranger = strangers_.try_emplace(place, io_).first->second;
    stranger.peer = channel->peer();
    const Key* key = request_.key ? &*request_.key : nullptr;
    stranger.establishing = std::make_unique<session::Establishing>(
        io_, session::Role::listener, std::move(channel), key, request_.session,
        lifetime_.guard([this, place](Result<std::unique_ptr<session::Session>> session) {
          if (!session) return turn_away(place, session.error());
          leave(place);
          admit(std::move(*session));
        }));
    stranger.establishing->take_joins(
        lifetime_.guard([this, place](const session::Join& join, std::unique_ptr<transport::Channel> joining) {
          leave(place);
          const Endpoint peer = joining->peer();
          if (auto joined = awaited_.join(join, std::move(joining)); !joined) on_refused_(peer, joined.error());
        }));
    stranger.establishing->start();
  }

  void admit(std::unique_ptr<session::Session> session) {
    if (session->join_key() == nullptr) return welcome(std::move(session));
    const Endpoint peer = session->peer();
    if (auto kept = awaited_.add(std::move(session)); !kept) on_refused_(peer, kept.error());
  }

  void welcome(std::unique_ptr<session::Session> session) {
    const Endpoint peer = session->peer();
    auto connection = connection::Multiplexer::create(io_, std::move(session), request_.session, engine_);
    if (!connection) return on_refused_(peer, connection.error());
    // Posted: what called us is a stranger's own handshake, and the owner may stop or destroy this listener.
    boost::asio::post(
        io_, lifetime_.guard([this, made = std::make_shared<std::unique_ptr<Connection>>(std::move(*connection))] {
          if (acceptor_) on_peer_(std::move(*made));  // else stopped meanwhile, and our interest is gone
        }));
  }

  /// Posted, as above.
  void leave(Place place) {
    places_.leave(place);  // at once: nobody takes the place of who has none any more
    boost::asio::post(io_, lifetime_.guard([this, place] { vacate(place); }));
  }

  /// The place may be another's already, or gone with all others when this was stopped.
  void vacate(Place place) {
    places_.leave(place);
    strangers_.erase(place);
    accept_on();
  }

  /// Posted, as above.
  void give_way(Place place) {
    const auto loser = strangers_.extract(place);
    if (loser.empty() || loser.mapped().refused) return;
    boost::asio::post(io_, lifetime_.guard([this, peer = loser.mapped().peer] {
      on_refused_(peer, {Errc::out_of_resources, "handshake with " + peer.to_string(),
                         "others came while it had not proved the key"});
    }));
  }

  void turn_away(Place place, const Error& error) {
    Stranger& stranger = strangers_.at(place);
    stranger.refused = true;
    stranger.leaving.expires_after(session::kRefusalDrain);
    stranger.leaving.async_wait(lifetime_.guard([this, place](const boost::system::error_code& cancelled) {
      if (!cancelled) vacate(place);
    }));
    on_refused_(Endpoint(stranger.peer), error);  // a copy: the call may stop us
  }

  boost::asio::io_context& io_;
  const ListenRequest request_;
  const std::shared_ptr<transport::Engine> engine_;
  const std::vector<Endpoint> locals_;
  std::unique_ptr<transport::Acceptor> acceptor_;  // none once stopped
  bool accepting_ = false;
  Places places_;
  Place next_place_ = 0;
  std::map<Place, Stranger> strangers_;  // as many as there are places
  const PeerHandler on_peer_;
  const RefusalHandler on_refused_;
  AwaitedSessions awaited_;
  core::Lifetime lifetime_;
};

}  // namespace
}  // namespace udtcat::connection

namespace udtcat {

Result<std::unique_ptr<Listener>> listen(boost::asio::io_context& io, ListenRequest request,
                                         Listener::PeerHandler on_peer, Listener::RefusalHandler on_refused) {
  // How many flows a peer will ask for is not known when their rate is set: without the user's word it gets one.
  if (!request.transport.rate.unlimited()) request.session.flows = request.session.flows.value_or(1);
  auto engine = transport::make_engine(io, connection::share_of_each_flow(request.transport, request.session.flows),
                                       request.key ? &*request.key : nullptr);
  if (!engine) return tl::unexpected(engine.error());
  std::shared_ptr<transport::Engine> shared = std::move(*engine);
  auto acceptor = shared->listen(request.locals);
  if (!acceptor) return tl::unexpected(acceptor.error());
  return std::make_unique<connection::Doorman>(io, std::move(request), std::move(shared), std::move(*acceptor),
                                               std::move(on_peer), std::move(on_refused));
}

}  // namespace udtcat
