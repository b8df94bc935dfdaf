// SPDX-License-Identifier: Apache-2.0
/// dial_plain() and listen_plain(): there is no handshake above the transport's own, a channel is all it takes.
#include <memory>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>

#include <udtcat/plain.hpp>

#include "lib/connection/dial_attempts.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "lib/plain/pipe.hpp"
#include "lib/transport/engine.hpp"

namespace udtcat::plain {
namespace {

/// Other programs speak UDT, and nothing beside it.
DialRequest by_udt(DialRequest request) {
  if (request.transport.kind == TransportKind::automatic) request.transport.kind = TransportKind::native;
  return request;
}

class PlainDialer final : public Dialer {
 public:
  using Made = Result<std::unique_ptr<PlainPipe>>;
  using Handler = std::function<void(Made)>;

  PlainDialer(boost::asio::io_context& io, DialRequest request, Handler handler)
      : io_(io),
        request_(by_udt(std::move(request))),
        handler_(std::move(handler)),
        attempts_(
            io, request_, {},
            [this](transport::Engine& engine, const Endpoint& address, connection::Attempts::Outcome outcome,
                   const connection::Attempts::ProofHandler& /*hold*/) {
              return begin(engine, address, std::move(outcome));
            },
            [this](const Error& error) { finish(tl::unexpected(error)); }) {}

 private:
  struct ChannelAttempt final : connection::Attempt {
    core::Lifetime lifetime;
  };

  std::unique_ptr<connection::Attempt> begin(transport::Engine& engine, const Endpoint& address,
                                             connection::Attempts::Outcome outcome) {
    auto attempt = std::make_unique<ChannelAttempt>();
    engine.async_connect(address, {}, connection::kAttemptPatience,
                         attempt->lifetime.guard(
                             [this, outcome = std::move(outcome)](Result<std::unique_ptr<transport::Channel>> channel) {
                               if (!channel) return outcome(channel.error(), false);
                               outcome(std::nullopt, true);
                               if (handler_)
                                 finish(std::make_unique<Pipe>(io_, std::move(*channel), attempts_.engine()));
                             }));
    return attempt;
  }

  void finish(Made made) {
    attempts_.finish();
    // Posted: the handler may destroy this dialer.
    boost::asio::post(io_,
                      lifetime_.guard([handler = std::exchange(handler_, nullptr),
                                       kept = std::make_shared<Made>(std::move(made))] { handler(std::move(*kept)); }));
  }

  boost::asio::io_context& io_;
  const DialRequest request_;
  Handler handler_;
  connection::Attempts attempts_;
  core::Lifetime lifetime_;
};

class PlainListener final : public Listener {
 public:
  using PipeHandler = std::function<void(std::unique_ptr<PlainPipe>)>;

  PlainListener(boost::asio::io_context& io, std::shared_ptr<transport::Engine> engine,
                std::unique_ptr<transport::Acceptor> acceptor, PipeHandler on_pipe)
      : io_(io),
        engine_(std::move(engine)),
        locals_(acceptor->local_endpoints()),
        acceptor_(std::move(acceptor)),
        on_pipe_(std::move(on_pipe)) {
    accept_on();
  }

  void send_stun(const Endpoint& peer, std::vector<std::byte> message) override {
    if (acceptor_) acceptor_->send_stun(peer, std::move(message));
  }
  void on_stun(Listener::StunHandler handler) override {
    if (acceptor_) acceptor_->on_stun(std::move(handler));
  }

  [[nodiscard]] std::vector<Endpoint> local_endpoints() const override { return locals_; }
  void stop() override { acceptor_.reset(); }

 private:
  using Accepted = Result<std::unique_ptr<transport::Channel>>;

  void accept_on() {
    acceptor_->async_accept(lifetime_.guard([this](Accepted channel) {
      // Posted: the owner may stop or destroy this listener, and it is the acceptor that calls.
      boost::asio::post(io_, lifetime_.guard([this, kept = std::make_shared<Accepted>(std::move(channel))] {
        if (acceptor_) take(std::move(*kept));
      }));
    }));
  }

  void take(Accepted channel) {
    accept_on();
    if (!channel) return core::log().warn("{}", channel.error().message());
    on_pipe_(std::make_unique<Pipe>(io_, std::move(*channel), engine_));
  }

  boost::asio::io_context& io_;
  const std::shared_ptr<transport::Engine> engine_;
  const std::vector<Endpoint> locals_;
  std::unique_ptr<transport::Acceptor> acceptor_;  // none once stopped
  const PipeHandler on_pipe_;
  core::Lifetime lifetime_;
};

}  // namespace
}  // namespace udtcat::plain

namespace udtcat {

std::unique_ptr<Dialer> dial_plain(boost::asio::io_context& io, DialRequest request,
                                   std::function<void(Result<std::unique_ptr<PlainPipe>>)> handler) {
  return std::make_unique<plain::PlainDialer>(io, std::move(request), std::move(handler));
}

Result<std::unique_ptr<Listener>> listen_plain(boost::asio::io_context& io, ListenRequest request,
                                               std::function<void(std::unique_ptr<PlainPipe>)> on_pipe) {
  UDTCAT_TRY(std::shared_ptr<transport::Engine> engine, transport::make_engine(io, request.transport));
  UDTCAT_TRY(auto acceptor, engine->listen(request.locals));
  return std::make_unique<plain::PlainListener>(io, std::move(engine), std::move(acceptor), std::move(on_pipe));
}

}  // namespace udtcat
