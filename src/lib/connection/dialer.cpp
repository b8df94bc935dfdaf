// SPDX-License-Identifier: Apache-2.0
/// dial_directly(): a channel to the listener, a session over it, and the connection that it carries.
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/post.hpp>

#include <udtcat/peering.hpp>

#include "lib/connection/credit.hpp"
#include "lib/connection/dial_attempts.hpp"
#include "lib/connection/direct.hpp"
#include "lib/connection/flow_dialing.hpp"
#include "lib/connection/multiplexer.hpp"
#include "lib/connection/port_secrets.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/net/bind.hpp"
#include "lib/net/http_proxy.hpp"
#include "lib/session/application.hpp"
#include "lib/session/handshake.hpp"
#include "lib/session/session.hpp"
#include "lib/transport/engine.hpp"
#include "lib/transport/local_addresses.hpp"

namespace udtcat::connection {
namespace {

/// One attempt to have a session with one address: a channel, and the handshake over it.
/// Threads: confined to the io_context thread; the handler is called once, not from inside the constructor.
class SessionAttempt final : public Attempt {
 public:
  /// somebody_answered   an error is the handshake's, and says more than silence
  using Handler = std::function<void(Result<std::unique_ptr<session::Session>>, bool somebody_answered)>;

  /// request, engine   outlive this
  /// hold              see Attempts; may be none
  SessionAttempt(boost::asio::io_context& io, const DialRequest& request, transport::Engine& engine,
                 const Endpoint& address, Handler handler, Attempts::ProofHandler hold);

 private:
  void start(const Endpoint& address, transport::Engine& engine);
  void on_channel(std::unique_ptr<transport::Channel> channel, const core::SharedBytes& words);

  /// By a transport whose flows cannot be replaced there are more than one only where the user asks for them.
  [[nodiscard]] static SessionOptions options_for(const DialRequest& request, const transport::Engine& engine) {
    SessionOptions options = request.session;
    if (!options.flows && engine.knows_acknowledged() && request.transport.rate.unlimited()) options.flows = kMaxFlows;
    return options;
  }

  const SessionOptions options_;
  const Handler handler_;
  const Attempts::ProofHandler hold_;
  const bool is_clear_;
  Attempts::Clock::time_point began_;
  std::unique_ptr<transport::Channel> waiting_;  // at clear, while it is held
  std::unique_ptr<session::Handshake> handshake_;
  core::Lifetime lifetime_;
};

SessionAttempt::SessionAttempt(boost::asio::io_context& io, const DialRequest& request, transport::Engine& engine,
                               const Endpoint& address, Handler handler, Attempts::ProofHandler hold)
    : options_(options_for(request, engine)),
      handler_(std::move(handler)),
      hold_(std::move(hold)),
      is_clear_(!request.credentials) {
  const Credentials* const credentials = request.credentials ? &*request.credentials : nullptr;
  const std::uint32_t window = initial_window_bytes(request.session, request.transport.memory_bytes);
  handshake_ = std::make_unique<session::Handshake>(
      io, session::Role::connector, credentials, options_, window,
      lifetime_.guard([this](Result<std::unique_ptr<session::Session>> made) { handler_(std::move(made), true); }));
  boost::asio::post(io, lifetime_.guard([this, address, &engine] { start(address, engine); }));
}

void SessionAttempt::start(const Endpoint& address, transport::Engine& engine) {
  auto words = handshake_->first_flight();
  if (!words) return handler_(tl::unexpected(words.error()), false);
  // At clear the listener has a session as soon as it is asked for one: nothing is said while the attempt is held.
  const bool says_nothing = hold_ && is_clear_;
  began_ = Attempts::Clock::now();
  engine.async_connect(address, says_nothing ? core::SharedBytes() : *words, kAttemptPatience,
                       lifetime_.guard([this, words = *words](Result<std::unique_ptr<transport::Channel>> channel) {
                         if (!channel) return handler_(tl::unexpected(channel.error()), false);
                         on_channel(std::move(*channel), words);
                       }));
}

void SessionAttempt::on_channel(std::unique_ptr<transport::Channel> channel, const core::SharedBytes& words) {
  if (!hold_) return handshake_->start(std::move(channel));
  const std::optional<Attempts::Clock::duration> measured = channel->stats().rtt;
  const auto round_trip = measured.value_or(Attempts::Clock::now() - began_);
  if (!is_clear_) {
    handshake_->hold_last_flight(
        [this, round_trip](std::function<void()> go_on) { hold_(round_trip, std::move(go_on)); });
    return handshake_->start(std::move(channel));
  }
  waiting_ = std::move(channel);
  hold_(round_trip, lifetime_.guard([this, words] {
    transport::write_handshake_data(*waiting_, words);
    handshake_->start(std::move(waiting_));
  }));
}

class SessionDialer final : public Dialer {
 public:
  SessionDialer(boost::asio::io_context& io, DialRequest request, Handler handler,
                std::shared_ptr<transport::Engine> given, Attempts::ProofHandler on_proof)
      : io_(io),
        request_(std::move(request)),
        handler_(std::move(handler)),
        on_proof_(std::move(on_proof)),
        attempts_(
            io, request_, port_secrets(session::Role::connector, credentials()),
            [this](transport::Engine& engine, const Endpoint& address, Attempts::Outcome outcome,
                   Attempts::ProofHandler hold) { return begin(engine, address, std::move(outcome), std::move(hold)); },
            [this](const Error& error) { finish(tl::unexpected(error)); }, std::move(given)) {
    if (auto named = session::check_application(request_.session); !named) finish(tl::unexpected(named.error()));
  }

 private:
  using Made = Result<std::unique_ptr<Connection>>;

  [[nodiscard]] const Credentials* credentials() const {
    return request_.credentials ? &*request_.credentials : nullptr;
  }

  std::unique_ptr<Attempt> begin(transport::Engine& engine, const Endpoint& address, Attempts::Outcome outcome,
                                 Attempts::ProofHandler hold) {
    if (!hold) hold = on_proof_;
    return std::make_unique<SessionAttempt>(
        io_, request_, engine, address,
        lifetime_.guard(
            [this, outcome = std::move(outcome)](Result<std::unique_ptr<session::Session>> session, bool answered) {
              if (!session) return outcome(session.error(), answered);
              outcome(std::nullopt, true);
              on_session(std::move(*session));
            }),
        std::move(hold));
  }

  void on_session(std::unique_ptr<session::Session> session) {
    const FlowDialing::Settings flows{
        .flows = request_.session.flows,
        .addresses = transport::count_of_family(request_.transport.local_addresses, session->peer().family()),
        .memory_bytes = request_.transport.memory_bytes};
    finish(Multiplexer::create(io_, std::move(session), request_.session,
                               {.keep_alive = attempts_.engine(), .dialled_by = attempts_.engine(), .flows = flows},
                               known_peers_of(credentials())));
  }

  void finish(Made result) {
    lifetime_.end();
    attempts_.finish();
    // Posted: the handler may destroy this dialer, and an attempt that failed may still be saying why to the peer.
    boost::asio::post(
        io_, lifetime_.guard([this, handler = std::move(handler_), kept = std::make_shared<Made>(std::move(result))] {
          if (*kept) attempts_.forget();  // they still know the exporter's secret
          handler(std::move(*kept));
        }));
  }

  boost::asio::io_context& io_;
  const DialRequest request_;
  Handler handler_;
  const Attempts::ProofHandler on_proof_;
  Attempts attempts_;
  core::Lifetime lifetime_;
};

}  // namespace

Result<std::shared_ptr<transport::Engine>> make_dialling_engine(boost::asio::io_context& io,
                                                                const DialRequest& request) {
  return transport::make_engine(
      io, share_of_each_flow(request.transport, flows_wanted(request.session, request.transport)),
      port_secrets(session::Role::connector, request.credentials ? &*request.credentials : nullptr));
}

std::unique_ptr<Dialer> dial_directly(boost::asio::io_context& io, DialRequest request, Dialer::Handler handler,
                                      std::shared_ptr<transport::Engine> engine, Attempts::ProofHandler on_proof) {
  // A proxy knows the host that this end has no address of, and by UDP nothing goes to it.
  const auto& proxy = request.transport.proxy;
  if (request.addresses.empty() && request.name && proxy && net::goes_by(*proxy, request.name->host)) {
    request.addresses = {net::wildcard(AddressFamily::ipv4).with_port(request.name->port)};
    request.transport.kind = TransportKind::tcp;
  }
  request.session.flows = flows_wanted(request.session, request.transport);
  return std::make_unique<SessionDialer>(io, std::move(request), std::move(handler), std::move(engine),
                                         std::move(on_proof));
}

}  // namespace udtcat::connection
