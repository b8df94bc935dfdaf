/// dial() and dial_plain(): attempt after attempt until a session, or a bare connection, stands or the time is over.
#include <algorithm>
#include <chrono>
#include <memory>
#include <type_traits>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/peering.hpp>
#include <udtcat/plain.hpp>

#include "core/invariant.hpp"
#include "core/lifetime.hpp"
#include "core/log.hpp"
#include "peering/flow_dialing.hpp"
#include "peering/rate_share.hpp"
#include "session/establish.hpp"
#include "stream/bare_pipe.hpp"
#include "stream/multiplexer.hpp"
#include "transport/engine.hpp"

namespace udtcat::peering {
namespace {

using Clock = std::chrono::steady_clock;

bool worth_another_attempt(Errc code) { return code == Errc::cannot_reach || code == Errc::connection_broken; }

/// Made: Connection, or PlainPipe, for which nothing is left to do once there is a channel.
template <typename Made>
class RetryingDialer final : public Dialer {
 public:
  using Handler = std::function<void(Result<std::unique_ptr<Made>>)>;

  RetryingDialer(boost::asio::io_context& io, DialRequest request, Handler handler)
      : io_(io),
        request_(std::move(request)),
        handler_(std::move(handler)),
        started_(Clock::now()),
        pause_(io),
        deadline_(io) {
    UDTCAT_INVARIANT(!request_.addresses.empty(), "resolve() gives an address or an error");
    boost::asio::post(io_, lifetime_.guard([this] { start(); }));
  }

 private:
  void start() {
    const Key* const key = request_.key && std::is_same_v<Made, Connection> ? &*request_.key : nullptr;
    auto engine = transport::make_engine(io_, share_of_each_flow(request_.transport, request_.session.flows), key);
    if (!engine) return finish(tl::unexpected(engine.error()));
    engine_ = std::move(*engine);
    deadline_.expires_after(request_.timeout);
    deadline_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
      if (!cancelled) finish(tl::unexpected(unreachable()));
    }));
    attempt();
  }

  void attempt() {
    const Endpoint& address = request_.addresses[attempts_++ % request_.addresses.size()];
    core::log().debug("trying {}", address.to_string());
    engine_->async_connect(address, kAttemptPatience,
                           lifetime_.guard([this](Result<std::unique_ptr<transport::Channel>> channel) {
                             if (!channel) return on_failed(channel.error());
                             if constexpr (std::is_same_v<Made, PlainPipe>)
                               finish(std::make_unique<stream::BarePipe>(io_, std::move(*channel), engine_));
                             else
                               establish(std::move(*channel));
                           }));
  }

  void establish(std::unique_ptr<transport::Channel> channel) {
    const Key* key = request_.key ? &*request_.key : nullptr;
    establishing_ = std::make_unique<session::Establishing>(
        io_, session::Role::connector, std::move(channel), key, request_.session,
        lifetime_.guard([this](Result<std::unique_ptr<session::Session>> session) {
          if (!session) return on_failed(session.error(), true);
          if ((*session)->join_key() == nullptr) return connect(std::move(*session));
          open_flows(std::move(*session));
        }));
    establishing_->start();
  }

  void open_flows(std::unique_ptr<session::Session> session) {
    flow_dialing_ = std::make_unique<FlowDialing>(
        io_, *engine_, std::move(session), lifetime_.guard([this](Result<std::unique_ptr<session::Session>> whole) {
          const auto done = std::move(flow_dialing_);  // what it has opened of a session that failed closes now
          if (!whole) return on_failed(whole.error(), true);
          connect(std::move(*whole));
        }));
  }

  void connect(std::unique_ptr<session::Session> session) {
    finish(stream::Multiplexer::create(io_, std::move(session), request_.session, engine_));
  }

  /// somebody_answered   a connection stood, so that later attempts which find nobody know less
  void on_failed(const Error& error, bool somebody_answered = false) {
    core::log().debug("{}", error.message());
    if (somebody_answered || !somebody_answered_) last_error_ = error;
    somebody_answered_ = somebody_answered_ || somebody_answered;
    if (error.code == Errc::authentication_failed) return finish(tl::unexpected(keys_differ()));
    if (!worth_another_attempt(error.code)) return finish(tl::unexpected(error));
    heard_only_closed_ports_ =
        heard_only_closed_ports_ && error.code == Errc::cannot_reach && error.cause == transport::kPortClosed;
    if (heard_only_closed_ports_ && attempts_ >= request_.addresses.size() &&
        Clock::now() - started_ >= request_.closed_port_patience)
      return finish(tl::unexpected(unreachable()));
    pause_.expires_after(kRetryPause);
    pause_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
      if (!cancelled) attempt();
    }));
  }

  [[nodiscard]] Error keys_differ() const {
    return {Errc::authentication_failed, "connect to " + request_.peer_name,
            "the peer does not hold our key; both ends need the same one"};
  }

  [[nodiscard]] Error unreachable() const {
    const auto waited = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - started_);
    std::string cause = last_error_ ? last_error_->cause : "nobody answered";
    if (somebody_answered_)
      cause = "somebody answered, but: " + last_error_->message() +
              "; is it a udtcat without --plain that waits for one peer more?";
    return {Errc::cannot_reach, "reach " + request_.peer_name + " for " + std::to_string(waited.count()) + " s", cause};
  }

  void finish(Result<std::unique_ptr<Made>> result) {
    lifetime_.end();
    deadline_.cancel();
    pause_.cancel();
    // Posted: the handler may destroy this dialer, and an attempt that failed may still be saying why to the peer.
    auto kept = std::make_shared<Result<std::unique_ptr<Made>>>(std::move(result));
    boost::asio::post(io_, lifetime_.guard([this, handler = std::move(handler_), kept] {
      if (*kept) establishing_.reset();  // it still knows the exporter's secret
      handler(std::move(*kept));
    }));
  }

  boost::asio::io_context& io_;
  DialRequest request_;
  Handler handler_;
  const Clock::time_point started_;
  std::shared_ptr<transport::Engine> engine_;
  std::unique_ptr<session::Establishing> establishing_;
  std::unique_ptr<FlowDialing> flow_dialing_;
  std::size_t attempts_ = 0;
  bool heard_only_closed_ports_ = true;
  bool somebody_answered_ = false;
  std::optional<Error> last_error_;
  boost::asio::steady_timer pause_;
  boost::asio::steady_timer deadline_;
  core::Lifetime lifetime_;
};

}  // namespace
}  // namespace udtcat::peering

namespace udtcat {

std::unique_ptr<Dialer> dial(boost::asio::io_context& io, DialRequest request, Dialer::Handler handler) {
  return std::make_unique<peering::RetryingDialer<Connection>>(io, std::move(request), std::move(handler));
}

std::unique_ptr<Dialer> dial_plain(boost::asio::io_context& io, DialRequest request,
                                   std::function<void(Result<std::unique_ptr<PlainPipe>>)> handler) {
  return std::make_unique<peering::RetryingDialer<PlainPipe>>(io, std::move(request), std::move(handler));
}

}  // namespace udtcat
