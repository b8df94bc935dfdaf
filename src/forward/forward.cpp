// SPDX-License-Identifier: Apache-2.0
#include "forward/forward.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/post.hpp>

#include "lib/bridge/reset.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "tool/run/warnings.hpp"
#include "tool/status/process_resources.hpp"

namespace udtcat::forward {

namespace {

constexpr std::chrono::seconds kReplacedAfter{5};      // guess: a silent session's path has carried two PINGs by then
constexpr std::chrono::seconds kIdleSessionAfter{30};  // guess: clients that came together have their streams by then
constexpr std::chrono::seconds kRefusedFor{3};         // guess: a silent session's path has carried a PING by then
/// Sessions are polled: one that answers again after a stall gives no event.
constexpr std::chrono::milliseconds kLookAgain{500};  // guess: hardly noticed after a stall

constexpr std::chrono::seconds kReleasedAfter{3};  // guess: a second more than kBreakOffDrain

std::string wish(const std::string& service) { return service.empty() ? "session" : "session that serves " + service; }

}  // namespace

Forward::Forward(boost::asio::io_context& io, std::chrono::milliseconds timeout, SessionSource source,
                 ForwardSessionFactory make_session, Handlers handlers)
    : io_(io),
      timeout_(timeout),
      source_(source),
      make_session_(std::move(make_session)),
      handlers_(std::move(handlers)),
      error_log_(io,
                 [](const Endpoint& where, const Error& error) {
                   const bool named = where.family() != AddressFamily::any;
                   core::log().warn("{}{}", named ? where.to_string() + ": " : "", error.message());
                 }),
      timer_(io),
      closed_timer_(io) {}

Status Forward::open_listener(const SocketAddress& address, const std::string& service) {
  UDTCAT_TRY(auto listener,
             bridge::LocalListener::open(
                 io_, address,
                 [this, service](bridge::StreamSocket socket, const Endpoint& client) {
                   waiting_.push_back({std::move(socket), client, service, Clock::now() + timeout_});
                   place_clients();
                 },
                 [this](const Endpoint& local, const Error& error) { error_log_.report(local, error); }));
  listeners_.push_back({.listener = std::move(listener), .service = service});
  return {};
}

std::vector<std::string> Forward::listener_names() const {
  std::vector<std::string> names;
  for (const ServiceListener& each : listeners_) {
    const std::string to = each.service.empty() ? "" : " to " + each.service;
    for (const std::string& name : each.listener->names()) names.push_back(name + to);
  }
  return names;
}

// ---- Sessions -------------------------------------------------------------------------------------------------------

void Forward::add(std::unique_ptr<Connection> connection) {
  const auto session = sessions_.insert(sessions_.end(), {std::move(connection), nullptr, next_number_++});
  session->work = make_session_(
      *session->connection,
      lifetime_.guard([this](const Endpoint& where, const Error& error) { error_log_.report(where, error); }));
  // The connection posts this call, so that the handler may destroy it.
  session->connection->on_closed([this, session](const Status& how) {
    boost::asio::post(io_, lifetime_.guard([this, session, how] { remove(session, how); }));
  });
  session->connection->on_quiet([this, session] {
    session->quiet_since = Clock::now();
    if (!stopped_ && wants_session() && handlers_.on_want) handlers_.on_want();
  });
  refused_since_.reset();
  totals_.come(*session->connection);
  if (handlers_.on_up) handlers_.on_up(*session->connection);
  place_clients();
}

bool Forward::wants_session() const {
  return !waiting_.empty() || std::ranges::any_of(sessions_, [](const Session& each) {
    return !each.connection->answers() && each.connection->stats().streams_open > 0;
  });
}

std::size_t Forward::answering() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(sessions_, [](const Session& each) { return each.connection->answers(); }));
}

/// After a failover the peer at that address cannot reset the old sessions: that a newer one answers shows it.
void Forward::tidy_up(Clock::time_point now) {
  const auto newest = std::find_if(sessions_.rbegin(), sessions_.rend(),
                                   [](const Session& each) { return each.connection->answers(); });
  if (newest == sessions_.rend()) return;
  const auto made_at = newest->connection->stats().made_at;
  const auto age = now - made_at;
  for (auto each = sessions_.begin(); each != std::prev(newest.base()); ++each) {
    Connection& connection = *each->connection;
    // One that was made before has perhaps not been asked since the path is down; nor is this one's peer elsewhere that
    // was heard again since.
    const bool is_elsewhere =
        each->quiet_since && made_at > *each->quiet_since && now - connection.stats().silence < made_at;
    if (age >= kReplacedAfter && is_elsewhere && !connection.answers())
      connection.abort({Errc::peer_lost, "peer " + connection.peer().to_string() + " is lost",
                        "it answers in a newer session, and no longer in this one"});
    if (age >= kIdleSessionAfter && connection.stats().streams_open == 0) connection.close();
  }
}

/// The path carried a dial and its refusal: a session that is silent meanwhile has lost its other end.
void Forward::on_refused(const std::vector<Endpoint>& addresses, const Error& why, Clock::time_point now) {
  if (answering() > 0) return refused_since_.reset();
  dismiss_all(why);
  Clock::duration longest{0};
  for (const Session& each : sessions_) longest = std::max<Clock::duration>(longest, each.connection->stats().silence);
  const bool answered_since = refused_since_ && longest <= now - *refused_since_;
  if (!refused_since_ || answered_since) refused_since_ = now;
  const auto refused_for = now - *refused_since_;
  if (refused_for < kRefusedFor) return;
  for (const Session& each : sessions_) {
    Connection& connection = *each.connection;
    const bool dialled = std::ranges::find(addresses, connection.peer()) != addresses.end();
    if (dialled && connection.stats().silence > refused_for)
      connection.abort({Errc::peer_lost, "peer " + connection.peer().to_string() + " is lost",
                        "it is silent, and who is there now refuses: " + why.message()});
  }
}

std::string Forward::name_of(const Endpoint& peer) const {
  const auto session = std::ranges::find(sessions_, peer, [](const Session& each) { return each.connection->peer(); });
  return session == sessions_.end() ? peer.to_string() : tool::peer_text(*session->connection);
}

void Forward::remove(std::list<Session>::iterator session, const Status& how) {
  Session gone = std::move(*session);
  sessions_.erase(session);
  totals_.leave(*gone.connection);
  if (handlers_.on_gone) handlers_.on_gone(*gone.connection, how);
  gone.work.reset();  // before the connection, to which it refers
  if (source_ == SessionSource::dialled) {
    closed_.push_back({std::move(gone.connection), Clock::now() + kReleasedAfter});
    if (closed_.size() == 1) await_release();
  } else {
    gone.connection.reset();
    tool::release_freed_memory();
  }
  if (!stopped_) return place_clients();
  if (sessions_.empty()) stopped_();
}

void Forward::release_closed() {
  const auto now = Clock::now();
  const std::size_t before = closed_.size();
  while (!closed_.empty() && closed_.front().release_at <= now) closed_.pop_front();
  if (closed_.size() < before) tool::release_freed_memory();
  if (!closed_.empty()) await_release();
}

void Forward::await_release() {
  closed_timer_.expires_at(closed_.front().release_at);
  closed_timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) release_closed();
  }));
}

ConnectionStats Forward::total() const {
  ConnectionStats all = totals_.gone();
  for (const Session& each : sessions_) all = sum(all, each.connection->stats());
  return all;
}

void Forward::add_to(tool::ProcessSnapshot& snapshot) const {
  snapshot.all = total();
  snapshot.forwarding = listener_names();
  snapshot.clients_waiting = waiting_.size();
  for (const Session& each : sessions_) snapshot.peers.push_back(tool::snapshot_of(each.number, *each.connection));
  totals_.add_to(snapshot);
}

void Forward::stop(const Error& why, std::function<void()> done) {
  listeners_.clear();
  timer_.cancel();
  for (Client& each : waiting_) bridge::reset(each.socket);
  waiting_.clear();
  stopped_ = std::move(done);
  if (sessions_.empty()) return stopped_();
  for (const Session& each : sessions_) each.connection->abort(why);
}

// ---- Clients --------------------------------------------------------------------------------------------------------

/// The newest session: the peer of an older one may have restarted, which is not noticed yet.
Forward::Session* Forward::session_for(const std::string& service) {
  const auto is_fit = [&](const Session& each) {
    return each.connection->streams_left() > 0 && each.work->is_for(service) && each.connection->answers();
  };
  const auto found = std::find_if(sessions_.rbegin(), sessions_.rend(), is_fit);
  return found == sessions_.rend() ? nullptr : &*found;
}

void Forward::place_clients() {
  if (stopped_) return;
  std::vector<std::string> full;
  for (auto client = waiting_.begin(); client != waiting_.end();) {
    const bool known_full = std::ranges::find(full, client->service) != full.end();
    Session* const session = known_full ? nullptr : session_for(client->service);
    if (session == nullptr) {
      if (!known_full) full.push_back(client->service);
      ++client;
      continue;
    }
    session->work->take(std::move(client->socket), client->address, client->service, lifetime_.guard([this] {
      if (!waiting_.empty()) place_clients();
    }));
    client = waiting_.erase(client);
  }
  pause_listeners();
  if (waiting_.empty()) return;
  arm_timer();
  if (handlers_.on_want) handlers_.on_want();
}

/// A listener whose service many clients wait for leaves further ones in the system's backlog.
void Forward::pause_listeners() {
  for (ServiceListener& each : listeners_) {
    const auto is_its = [&](const Client& client) { return client.service == each.service; };
    const bool pause = waiting_.size() >= kMaxWaitingClients &&
                       static_cast<std::size_t>(std::ranges::count_if(waiting_, is_its)) >= kMaxWaitingClients;
    if (std::exchange(each.paused, pause) == pause) continue;
    pause ? each.listener->pause() : each.listener->resume();
  }
}

void Forward::recheck() {
  for (const Session& each : sessions_)
    if (each.work->has_lost_services())
      each.connection->abort(
          {Errc::parameters_refused, "",
           tool::peer_text(*each.connection) + " may no longer reach all the services that it could"});
}

void Forward::arm_timer() {
  const auto until = std::ranges::min_element(waiting_, {}, &Client::until)->until;
  timer_.expires_at(std::min(until, Clock::now() + kLookAgain));
  timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) dismiss_late();
  }));
}

/// The peer answers and refuses us: the clients need not wait.
void Forward::dismiss_all(const Error& why) {
  for (Client& each : waiting_) dismiss(each, {why.code, "forward a client", why.message()});
  waiting_.clear();
  pause_listeners();
}

void Forward::dismiss(Client& client, const Error& why) {
  bridge::reset(client.socket);
  error_log_.report(client.address, why);
}

void Forward::dismiss_late() {
  const auto now = Clock::now();
  for (auto client = waiting_.begin(); client != waiting_.end();) {
    const bool is_late = client->until <= now;
    const bool is_full = std::ranges::any_of(sessions_, [&](const Session& each) {
      return each.work->is_for(client->service) && each.connection->answers();
    });
    if (is_late && is_full) client->until = now + timeout_;  // there will be room
    if (!is_late || is_full) {
      ++client;
      continue;
    }
    dismiss(*client, {Errc::cannot_reach, "forward a client",
                      fmt::format("no {} within {}", wish(client->service), core::format_duration(timeout_))});
    client = waiting_.erase(client);
  }
  place_clients();
}

}  // namespace udtcat::forward
