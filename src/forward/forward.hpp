// SPDX-License-Identifier: Apache-2.0
/// A forward: local clients and local services on one side, the sessions that carry them on the other.
///
///   client ─► LocalListener ─► waiting ─► the newest session with room ─► ForwardSession::take()
///   a peer's stream ─► ForwardSession, since its making
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/bridges.hpp>
#include <udtcat/connection.hpp>

#include "forward/forward_options.hpp"
#include "lib/bridge/local_listener.hpp"
#include "lib/bridge/rate_limited_log.hpp"
#include "lib/core/lifetime.hpp"
#include "tool/status/peer_totals.hpp"
#include "tool/status/snapshot.hpp"

namespace udtcat::forward {

/// The work of one session for a forward. Made before the session's streams arrive; lives as long as the session.
/// Threads: confined to the io_context thread.
class ForwardSession {
 public:
  using EndHandler = std::function<void()>;
  virtual ~ForwardSession() = default;
  /// Whether clients for that service may go to its peer.
  [[nodiscard]] virtual bool is_for(const std::string& /*service*/) const { return true; }
  /// Whether its peer has lost access to a service since the last call, or since the session began.
  [[nodiscard]] virtual bool has_lost_services() { return false; }
  /// Carries a client to the peer's service of that name.
  /// ended   called when the stream has ended
  virtual void take(bridge::StreamSocket client, const Endpoint& address, const std::string& service,
                    EndHandler ended) = 0;
};
using ErrorHandler = std::function<void(const Endpoint& where, const Error& error)>;
using ForwardSessionFactory =
    std::function<std::unique_ptr<ForwardSession>(Connection& connection, ErrorHandler on_error)>;

/// Clients that wait for a session with one service; beyond them they wait in the system's backlog.
inline constexpr std::size_t kMaxWaitingClients = 1024;  // guess: of descriptors that wait for nothing yet

/// dialled: its destructor may wait 2 s, so it is kept until that is over
enum class SessionSource { accepted, dialled };

/// Its listeners stay open whatever becomes of its sessions. A client goes to the newest session that answers, has room
/// and, where peers say what they serve, serves what it wants. Else it waits: for `timeout` where there is no such
/// session, then it is reset; without limit while all are full.
/// Threads: confined to the io_context thread, where handlers are called.
class Forward {
 public:
  /// Connections are told of, not given.
  struct Handlers {
    std::function<void()> on_want{};                      ///< wants_session() is true; called again while it is
    std::function<void(Connection& connection)> on_up{};  ///< also of the sessions after the first
    std::function<void(Connection& connection, const Status& how)> on_gone{};
  };

  Forward(boost::asio::io_context& io, std::chrono::milliseconds timeout, SessionSource source,
          ForwardSessionFactory make_session, Handlers handlers);

  /// Listens for clients of `service`; once for each.  errors: Errc::cannot_bind
  [[nodiscard]] Status open_listener(const SocketAddress& address, const std::string& service);
  [[nodiscard]] std::vector<std::string> listener_names() const;
  /// Adds a session, until it ends.
  void add(std::unique_ptr<Connection> connection);
  /// Whether another session would help: clients wait, or have streams in a session that does not answer.
  [[nodiscard]] bool wants_session() const;
  [[nodiscard]] std::size_t sessions() const { return sessions_.size(); }
  /// The statistics of all sessions, also those that have ended.
  [[nodiscard]] ConnectionStats total() const;
  [[nodiscard]] std::size_t answering() const;
  /// Whether the newest session, to which clients go, is over TCP.
  [[nodiscard]] bool is_by_tcp() const {
    return !sessions_.empty() && sessions_.back().connection->stats().transport == TransportKind::tcp;
  }
  /// For sessions that are all with one peer. Gives up those that do not answer once one that was made since they fell
  /// silent has answered for 5 s; closes those without streams once the newest that answers is 30 s old.
  void tidy_up(std::chrono::steady_clock::time_point now);
  /// For sessions that are all with one peer, which refused a new one at `addresses`. Once refusals have come for three
  /// seconds, gives up the sessions with such an address that have been silent since before the first of them. Where no
  /// session answers, the clients that wait are reset: each new one has the peer dialled again.
  void on_refused(const std::vector<Endpoint>& addresses, const Error& why, std::chrono::steady_clock::time_point now);
  void recheck();
  /// The name of the peer with that address, for messages.
  [[nodiscard]] std::string name_of(const Endpoint& peer) const;
  void add_to(tool::ProcessSnapshot& snapshot) const;

  /// Closes the listeners, resets the clients that wait, and ends each session with `why`; then calls `done`.
  void stop(const Error& why, std::function<void()> done);

 private:
  using Clock = std::chrono::steady_clock;
  struct Session {
    std::unique_ptr<Connection> connection;
    std::unique_ptr<ForwardSession> work;  // destroyed first
    std::uint64_t number;
    std::optional<Clock::time_point> quiet_since{};  // when answers() last became false
  };
  /// Kept for kReleasedAfter where it was dialled: its destructor waits until its last frames are acknowledged, and all
  /// others would with it.
  struct ClosedConnection {
    std::unique_ptr<Connection> connection;
    Clock::time_point release_at;
  };
  struct ServiceListener {
    std::unique_ptr<bridge::LocalListener> listener;
    std::string service;
    bool paused = false;
  };
  struct Client {
    bridge::StreamSocket socket;
    Endpoint address;
    std::string service;
    Clock::time_point until;
  };

  [[nodiscard]] Session* session_for(const std::string& service);
  void place_clients();
  void pause_listeners();
  void arm_timer();
  void dismiss_all(const Error& why);
  void dismiss(Client& client, const Error& why);
  void dismiss_late();
  void remove(std::list<Session>::iterator session, const Status& how);
  void release_closed();
  void await_release();

  boost::asio::io_context& io_;
  const std::chrono::milliseconds timeout_;
  const SessionSource source_;
  const ForwardSessionFactory make_session_;
  const Handlers handlers_;
  bridge::RateLimitedLog error_log_;
  std::list<Session> sessions_;
  std::deque<ClosedConnection> closed_;  // the oldest first; at most the redials of kReleasedAfter
  std::deque<Client> waiting_;           // of each service at most kMaxWaitingClients, and a few that were on their way
  tool::PeerTotals totals_;
  std::uint64_t next_number_ = 1;
  std::optional<Clock::time_point> refused_since_;
  std::function<void()> stopped_;
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer closed_timer_;
  std::vector<ServiceListener> listeners_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::forward
