/// listen(): lets strangers try, a few at a time, and hands on those that prove the key.
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/peering.hpp>

#include "core/lifetime.hpp"
#include "core/log.hpp"
#include "peering/awaited_sessions.hpp"
#include "peering/rate_share.hpp"
#include "session/establish.hpp"
#include "stream/multiplexer.hpp"
#include "transport/engine.hpp"

namespace udtcat::peering {
namespace {

/// Each costs libudt about a megabyte until it is closed; the bound is what a flood of them can cost us.
constexpr std::size_t kMaxStrangers = 32;  // spec: handshake.md §7

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
    awaited_.clear();
  }

 private:
  /// Somebody who has not proved the key: talking, or refused and being told why.
  struct Stranger {
    explicit Stranger(boost::asio::io_context& io) : leaving(io) {}
    Endpoint peer;
    std::unique_ptr<session::Establishing> establishing;
    boost::asio::steady_timer leaving;
  };
  using Place = std::list<Stranger>::iterator;

  void accept_on() {
    if (accepting_ || !acceptor_ || strangers_.size() >= kMaxStrangers) return;
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
    const Place place = strangers_.emplace(strangers_.end(), io_);
    place->peer = channel->peer();
    const Key* key = request_.key ? &*request_.key : nullptr;
    place->establishing = std::make_unique<session::Establishing>(
        io_, session::Role::listener, std::move(channel), key, request_.session,
        lifetime_.guard([this, place](Result<std::unique_ptr<session::Session>> session) {
          if (!session) return turn_away(place, session.error());
          leave(place);
          admit(std::move(*session));
        }));
    place->establishing->take_joins(
        lifetime_.guard([this, place](const session::Join& join, std::unique_ptr<transport::Channel> joining) {
          leave(place);
          if (auto joined = awaited_.join(join, std::move(joining)); !joined) on_refused_(place->peer, joined.error());
        }));
    place->establishing->start();
  }

  void admit(std::unique_ptr<session::Session> session) {
    if (session->join_key() == nullptr) return welcome(std::move(session));
    const Endpoint peer = session->peer();
    if (auto kept = awaited_.add(std::move(session)); !kept) on_refused_(peer, kept.error());
  }

  void welcome(std::unique_ptr<session::Session> session) {
    const Endpoint peer = session->peer();
    auto connection = stream::Multiplexer::create(io_, std::move(session), request_.session, engine_);
    if (!connection) return on_refused_(peer, connection.error());
    // Posted: what called us is a stranger's own handshake, and the owner may stop or destroy this listener.
    boost::asio::post(
        io_, lifetime_.guard([this, made = std::make_shared<std::unique_ptr<Connection>>(std::move(*connection))] {
          if (acceptor_) on_peer_(std::move(*made));  // else stopped meanwhile, and our interest is gone
        }));
  }

  /// Posted, as above.
  void leave(Place place) {
    boost::asio::post(io_, lifetime_.guard([this, place] {
      if (!acceptor_) return;  // stopped meanwhile: the place is gone
      strangers_.erase(place);
      accept_on();
    }));
  }

  void turn_away(Place place, const Error& error) {
    place->leaving.expires_after(session::kRefusalDrain);
    place->leaving.async_wait(lifetime_.guard([this, place](const boost::system::error_code& cancelled) {
      if (cancelled || !acceptor_) return;
      strangers_.erase(place);
      accept_on();
    }));
    on_refused_(place->peer, error);
  }

  boost::asio::io_context& io_;
  const ListenRequest request_;
  const std::shared_ptr<transport::Engine> engine_;
  const std::vector<Endpoint> locals_;
  std::unique_ptr<transport::Acceptor> acceptor_;  // none once stopped
  bool accepting_ = false;
  std::list<Stranger> strangers_;  // at most kMaxStrangers
  const PeerHandler on_peer_;
  const RefusalHandler on_refused_;
  AwaitedSessions awaited_;
  core::Lifetime lifetime_;
};

}  // namespace
}  // namespace udtcat::peering

namespace udtcat {

Result<std::unique_ptr<Listener>> listen(boost::asio::io_context& io, ListenRequest request,
                                         Listener::PeerHandler on_peer, Listener::RefusalHandler on_refused) {
  // How many flows a peer will ask for is not known when their rate is set: without the user's word it gets one.
  if (!request.transport.rate.unlimited()) request.session.flows = request.session.flows.value_or(1);
  auto engine = transport::make_engine(io, peering::share_of_each_flow(request.transport, request.session.flows));
  if (!engine) return tl::unexpected(engine.error());
  std::shared_ptr<transport::Engine> shared = std::move(*engine);
  auto acceptor = shared->listen(request.locals);
  if (!acceptor) return tl::unexpected(acceptor.error());
  return std::make_unique<peering::Doorman>(io, std::move(request), std::move(shared), std::move(*acceptor),
                                            std::move(on_peer), std::move(on_refused));
}

}  // namespace udtcat
