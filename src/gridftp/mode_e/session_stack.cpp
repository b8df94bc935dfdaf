// SPDX-License-Identifier: Apache-2.0
/// make_session_stack(): data connections are streams of our sessions, one session for each port that is called.
#include <list>
#include <map>
#include <utility>

#include <boost/asio/post.hpp>

#include <udtcat/connection.hpp>
#include <udtcat/peering.hpp>

#include "gridftp/coroutine/stream_io.hpp"
#include "gridftp/coroutine/task.hpp"
#include "gridftp/mode_e/data_stack.hpp"
#include "lib/bridge/stream_pair.hpp"
#include "lib/core/duplicate.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/run/warnings.hpp"

namespace udtcat::gridftp {

namespace {

std::string name_of(const Endpoint& peer) { return "session with " + peer.to_string(); }

/// errors: Errc::authentication_failed: the peer has proved another key than the one whose data these are
Status check_key(const Connection& connection, const std::optional<PublicKey>& only_peer) {
  const auto identity = connection.peer_identity();
  if (!only_peer || !identity || identity->key == *only_peer) return {};
  return fail(Errc::authentication_failed, "move data in a " + name_of(connection.peer()),
              "it is " + identity->name + ", whose data these are not");
}

/// Sessions without streams, until their peers have answered the CLOSE.
class ClosingSessions : public std::enable_shared_from_this<ClosingSessions> {
 public:
  explicit ClosingSessions(boost::asio::io_context& io) : io_(io) {}
  void take(std::unique_ptr<Connection> connection) {
    const std::uint64_t number = next_++;
    Connection& closing = *connections_.emplace(number, std::move(connection)).first->second;
    closing.on_closed([weak = weak_from_this(), number](const Status&) {
      // Posted: this is the connection's own handler.
      if (const auto self = weak.lock())
        boost::asio::post(self->io_, [weak, number] {
          if (const auto still = weak.lock()) still->connections_.erase(number);
        });
    });
    closing.close();
  }

 private:
  boost::asio::io_context& io_;
  std::map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  std::uint64_t next_ = 0;
};

/// A session that lives as long as one of its streams.
class SharedSession {
 public:
  SharedSession(boost::asio::io_context& io, std::unique_ptr<Connection> connection,
                std::weak_ptr<ClosingSessions> closing, const std::shared_ptr<DataStats>& stats)
      : io_(io), connection_(std::move(connection)), peer_(connection_->peer()), closing_(std::move(closing)) {
    if (stats) counted_ = stats->add([&session = *connection_] { return session.stats(); });
    connection_->on_closed(lifetime_.guard([this](const Status& status) {
      closed_ = true;
      counted_.reset();
      core::log().debug("{}: {}", name_of(peer_), status ? "closed" : status.error().message());
    }));
  }
  ~SharedSession() {
    counted_.reset();
    const auto closing = closing_.lock();
    if (closing && !closed_) closing->take(std::move(connection_));
  }
  SharedSession(const SharedSession&) = delete;
  SharedSession& operator=(const SharedSession&) = delete;

  [[nodiscard]] bool is_closed() const { return closed_; }
  [[nodiscard]] Connection& connection() { return *connection_; }
  [[nodiscard]] const Endpoint& peer() const { return peer_; }
  /// id   of the stream that the peer has opened; none: we open one
  [[nodiscard]] static std::shared_ptr<StreamIo> make_stream(const std::shared_ptr<SharedSession>& session,
                                                             std::optional<StreamId> id = {}) {
    Connection& connection = *session->connection_;
    auto [theirs, ours] =
        bridge::make_stream_pair(session->io_, name_of(session->peer_), bridge::LargeWrites::uncopied);
    if (id)
      connection.accept_stream(*id, std::move(theirs), log_outcome(session->peer_));
    else
      connection.open_stream(std::move(theirs), log_outcome(session->peer_));
    SessionPeer peer{connection.peer_application_data(), {}, connection.peer()};
    if (const auto identity = connection.peer_identity()) {
      peer.key = identity->key;
      peer.name = identity->name;
    }
    return std::make_shared<StreamIo>(std::move(ours), session, peer);
  }

 private:
  [[nodiscard]] static Connection::OutcomeHandler log_outcome(const Endpoint& peer) {
    return [name = name_of(peer)](const StreamOutcome& outcome) {
      core::log().debug("{}: a stream ended: {}", name, outcome.error ? outcome.error->message() : "whole");
    };
  }

  boost::asio::io_context& io_;
  std::unique_ptr<Connection> connection_;
  const Endpoint peer_;
  const std::weak_ptr<ClosingSessions> closing_;
  std::shared_ptr<void> counted_;
  bool closed_ = false;
  core::Lifetime lifetime_;
};

class SessionDataListener final : public DataListener {
 public:
  SessionDataListener(boost::asio::io_context& io, std::weak_ptr<ClosingSessions> closing, const DataOptions& options,
                      DataStack::ConnectionHandler handler)
      : io_(io),
        closing_(std::move(closing)),
        only_peer_(options.only_peer),
        stats_(options.stats),
        handler_(std::move(handler)),
        refusals_(io) {}

  [[nodiscard]] Status open(ListenRequest request) {
    const auto refused = [this](const Endpoint& peer, const Error& why) { refusals_.add(peer, why); };
    UDTCAT_TRY(listener_,
               udtcat::listen(
                   io_, std::move(request),
                   [this](std::unique_ptr<Connection> connection) { welcome(std::move(connection)); }, refused));
    return {};
  }
  [[nodiscard]] Endpoint local() const override { return listener_->local_endpoints().front(); }

 private:
  void welcome(std::unique_ptr<Connection> connection) {
    if (const auto identity = connection->peer_identity())
      core::log().info("{} is {}", connection->peer().to_string(), identity->name);
    if (const auto is_its = check_key(*connection, only_peer_); !is_its) {
      refusals_.add(connection->peer(), is_its.error());
      if (const auto closing = closing_.lock()) closing->take(std::move(connection));
      return;
    }
    const auto session = std::make_shared<SharedSession>(io_, std::move(connection), closing_, stats_);
    std::erase_if(sessions_, [](const auto& each) { return each->is_closed(); });
    sessions_.push_back(session);
    session->connection().on_stream(lifetime_.guard([this, weak = std::weak_ptr<SharedSession>(session)](StreamId id) {
      if (const auto alive = weak.lock()) handler_(SharedSession::make_stream(alive, id), alive->peer());
    }));
  }

  boost::asio::io_context& io_;
  const std::weak_ptr<ClosingSessions> closing_;
  const std::optional<PublicKey> only_peer_;
  const std::shared_ptr<DataStats> stats_;
  const DataStack::ConnectionHandler handler_;
  tool::RefusalLog refusals_;
  std::list<std::shared_ptr<SharedSession>> sessions_;  // as many as peers that hold the key
  std::unique_ptr<Listener> listener_;
  core::Lifetime lifetime_;
};

class SessionStack final : public DataStack {
 public:
  SessionStack(boost::asio::io_context& io, const DataOptions& options) : io_(io), options_(options) {}

  Task<Result<std::shared_ptr<StreamIo>>> connect(std::vector<Endpoint> to) override {
    std::erase_if(sessions_, [](const auto& each) { return each.second.expired(); });
    const std::string name = to.front().to_string();
    auto session = sessions_[name].lock();
    if (!session || session->is_closed()) {
      UDTCAT_CO_TRY(auto dialled, co_await dial(std::move(to), name));
      session = std::move(dialled);
      sessions_[name] = session;
    }
    co_return SharedSession::make_stream(session);
  }

  Result<std::unique_ptr<DataListener>> listen(const Endpoint& local, ConnectionHandler handler) override {
    ListenRequest request;
    request.locals.push_back(local);
    request.credentials = core::duplicate(options_.credentials);
    request.session = options_.session;
    request.session.application_data = static_cast<std::uint8_t>(options_.statements);
    request.transport = options_.transport;
    auto listener = std::make_unique<SessionDataListener>(io_, closing_, options_, std::move(handler));
    UDTCAT_CHECK(listener->open(std::move(request)));
    return listener;
  }

 private:
  [[nodiscard]] Task<Result<std::shared_ptr<SharedSession>>> dial(std::vector<Endpoint> to, std::string name) {
    DialRequest request;
    request.addresses = std::move(to);
    request.peer_name = std::move(name);
    request.timeout = options_.connect_timeout;
    request.credentials = core::duplicate(options_.credentials);
    request.session = options_.session;
    request.session.application_data = static_cast<std::uint8_t>(options_.statements);
    request.transport = options_.transport;
    const auto begin = [&](auto handler) { return udtcat::dial(io_, std::move(request), std::move(handler)); };
    UDTCAT_CO_TRY(auto connection, co_await await_dial<Connection>(io_, begin));
    if (const auto is_its = check_key(*connection, options_.only_peer); !is_its) {
      closing_->take(std::move(connection));
      co_return tl::unexpected(is_its.error());
    }
    co_return std::make_shared<SharedSession>(io_, std::move(connection), closing_, options_.stats);
  }

  boost::asio::io_context& io_;
  const DataOptions options_;
  const std::shared_ptr<ClosingSessions> closing_ = std::make_shared<ClosingSessions>(io_);
  std::map<std::string, std::weak_ptr<SharedSession>> sessions_;  // by the port called, of several the first
};

}  // namespace

std::shared_ptr<DataStack> make_session_stack(boost::asio::io_context& io, const DataOptions& options) {
  return std::make_shared<SessionStack>(io, options);
}

}  // namespace udtcat::gridftp
