// SPDX-License-Identifier: Apache-2.0
/// make_services(): connects the streams that peers open.
///
///   on_stream ─► FairQueue ─► Resolver ─► TcpConnect, UnixConnect ─► accept_stream(SocketStream)
///                           └───────────────────────┴───────► refuse_stream(why), and a line for the operator
///   on_stream_given_up ─► leaves the queue, or ends the attempt
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <udtcat/bridges.hpp>

#include "lib/bridge/asio_conversions.hpp"
#include "lib/bridge/fair_queue.hpp"
#include "lib/bridge/rate_limited_log.hpp"
#include "lib/bridge/reset.hpp"
#include "lib/bridge/socket_stream.hpp"
#include "lib/bridge/tcp_connect.hpp"
#include "lib/bridge/unix_socket.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/core/log.hpp"
#include "lib/net/resolver.hpp"

namespace udtcat::bridge {
namespace {

using boost::asio::ip::tcp;

/// Attempts under way at a time, to one service.
constexpr std::size_t kMaxAttempts = 256;                   // guess: below every service's backlog
constexpr std::size_t kMaxAttemptsOfConnection = 64;        // guess: a connection leaves most of them to others
constexpr std::size_t kMostNamesAtOnce = 4;                 // guess: refused, told before they are counted
constexpr auto kConnectTimeout = std::chrono::seconds(10);  // guess: a service that is up answers in a round trip

/// Close the connections before this is destroyed: their streams would stay unanswered.
/// Threads: confined to the io_context thread.
class SocketServices final : public Services {
 public:
  SocketServices(boost::asio::io_context& io, std::vector<Service> services, AddressFamily family,
                 ErrorHandler on_error)
      : io_(io),
        error_log_(io, on_error),
        refused_names_(
            io, on_error, [](const Error& why) { return why.cause; }, kMostNamesAtOnce),
        resolver_(io, family) {
    for (Service& service : services) queues_.emplace_back(std::move(service));
    for (const Queue& queue : queues_) check_name(queue.service);
  }

  void serve(Connection& connection, Permission may_reach) override;

 private:
  /// Lives in the connection's stream handler, and so no longer than the connection.
  struct ServedConnection {
    Connection& connection;
    const std::uint64_t number;
    const Endpoint peer;
    const Permission may_reach;
  };
  /// The streams for one service. A silent service delays no other, and a connection with very many streams delays no
  /// other connection.
  struct Queue {
    explicit Queue(Service of) : service(std::move(of)) {}
    const Service service;
    std::optional<Endpoint> answered{};  // the address that answered last
    FairQueue<std::uint64_t, StreamId> streams{kMaxAttempts, kMaxAttemptsOfConnection};
  };
  struct Resolving {};
  using Attempt = std::variant<std::monostate, Resolving, TcpConnect, UnixConnect>;  // none: the stream waits
  struct PendingStream {
    PendingStream(std::weak_ptr<ServedConnection> by, Queue& at) : from(std::move(by)), queue(at) {}
    const std::weak_ptr<ServedConnection> from;
    Queue& queue;
    Attempt attempt;
  };
  /// The connection's number, and the stream's.
  using PendingStreamId = std::pair<std::uint64_t, StreamId>;

  void check_name(const Service& service);
  void take(const std::shared_ptr<ServedConnection>& served, StreamId id);
  void give_up(const PendingStreamId& id);
  void connect_next(Queue& queue);
  void connect(Queue& queue, const PendingStreamId& id, Attempt& attempt);
  void race(Queue& queue, const PendingStreamId& id, Attempt& attempt, std::vector<Endpoint> addresses);
  void on_answer(const PendingStreamId& id, const std::string& failure, StreamSocket socket);
  void answer(const std::shared_ptr<ServedConnection>& served, StreamId id, const Service& service,
              const std::string& failure, StreamSocket socket);
  [[nodiscard]] std::string offered_to(const ServedConnection& served) const;
  void refuse_name(ServedConnection& served, StreamId id, const std::string& name);
  void refuse(ServedConnection& served, StreamId id, const Error& why);
  void on_stream_ended(const Endpoint& peer, StreamId id, const StreamOutcome& outcome);

  boost::asio::io_context& io_;
  RateLimitedLog error_log_;
  RateLimitedLog refused_names_;  // a kind for each cause: a peer may make up any number of names, but no cause
  net::Resolver resolver_;
  std::list<Queue> queues_;  // of each service
  std::uint64_t connections_served_ = 0;
  std::map<PendingStreamId, PendingStream> pending_;  // not answered; bounded by the connections
  core::Lifetime lifetime_;
};

/// Reports a host name that cannot be resolved before the first client comes.
void SocketServices::check_name(const Service& service) {
  if (service.host.host.empty()) return;
  resolver_.look_up(service.host, lifetime_.guard([this](const Result<std::vector<Endpoint>>& found) {
    if (!found) error_log_.report({}, found.error());
  }));
}

void SocketServices::serve(Connection& connection, Permission may_reach) {
  const auto served = std::make_shared<ServedConnection>(
      ServedConnection{connection, connections_served_++, connection.peer(), std::move(may_reach)});
  connection.on_stream(lifetime_.guard([this, served](StreamId id) { take(served, id); }));
  connection.on_stream_given_up(lifetime_.guard([this, number = served->number](StreamId id) {
    give_up({number, id});
  }));
}

void SocketServices::take(const std::shared_ptr<ServedConnection>& served, StreamId id) {
  const auto name = served->connection.service_of(id);
  if (!name) return;  // given up within the turn of the event loop in which it came
  const auto queue = std::ranges::find(queues_, *name, [](const Queue& each) { return each.service.name; });
  if (queue == queues_.end() || !served->may_reach(*name)) return refuse_name(*served, id, *name);
  pending_.try_emplace({served->number, id}, served, *queue);
  queue->streams.add(served->number, id);
  connect_next(*queue);
}

void SocketServices::give_up(const PendingStreamId& id) {
  const auto pending = pending_.find(id);
  if (pending == pending_.end()) return;
  Queue& queue = pending->second.queue;
  const bool waits = std::holds_alternative<std::monostate>(pending->second.attempt);
  pending_.erase(pending);
  if (waits) return queue.streams.remove(id.first, id.second);
  queue.streams.done(id.first);
  connect_next(queue);
}

void SocketServices::connect_next(Queue& queue) {
  while (const auto entry = queue.streams.next()) {
    const PendingStreamId id{entry->owner, entry->item};
    const auto pending = pending_.find(id);
    if (!pending->second.from.expired()) {
      connect(queue, id, pending->second.attempt);
    } else {
      pending_.erase(pending);
      queue.streams.done(entry->owner);
    }
  }
}

void SocketServices::connect(Queue& queue, const PendingStreamId& id, Attempt& attempt) {
  const Service& to = queue.service;
  if (to.address.is_unix()) {
    attempt.emplace<UnixConnect>(
        io_, to.address.unix_path, kConnectTimeout,
        [this, id](std::error_code error, auto socket) { on_answer(id, cause_of(error), std::move(socket)); });
    return;
  }
  if (to.host.host.empty()) return race(queue, id, attempt, to.address.tcp);
  attempt.emplace<Resolving>();
  resolver_.look_up(to.host, lifetime_.guard([this, id](const Result<std::vector<Endpoint>>& found) {
    const auto pending = pending_.find(id);
    if (pending == pending_.end()) return;  // given up
    if (!found) return on_answer(id, found.error().message(), StreamSocket(io_));
    race(pending->second.queue, id, pending->second.attempt, *found);
  }));
}

/// Begins with the address that answered last.
void SocketServices::race(Queue& queue, const PendingStreamId& id, Attempt& attempt, std::vector<Endpoint> addresses) {
  const auto last = queue.answered ? std::ranges::find(addresses, *queue.answered) : addresses.end();
  if (last != addresses.end()) std::rotate(addresses.begin(), last, last + 1);
  attempt.emplace<TcpConnect>(io_, addresses, kConnectTimeout,
                              [this, id, &queue](std::error_code error, tcp::socket socket) {
                                boost::system::error_code gone;  // reset already
                                if (!error) queue.answered = from_asio(socket.remote_endpoint(gone));
                                on_answer(id, cause_of(error), std::move(socket));
                              });
}

void SocketServices::on_answer(const PendingStreamId& id, const std::string& failure, StreamSocket socket) {
  const auto pending = pending_.extract(id);
  Queue& queue = pending.mapped().queue;
  queue.streams.done(id.first);
  answer(pending.mapped().from.lock(), id.second, queue.service, failure, std::move(socket));
  connect_next(queue);
}

void SocketServices::answer(const std::shared_ptr<ServedConnection>& served, StreamId id, const Service& service,
                            const std::string& failure, StreamSocket socket) {
  if (!served) return reset(socket);
  if (!socket.is_open()) return refuse(*served, id, {Errc::local_connect_failed, "connect " + service.shown, failure});
  served->connection.accept_stream(id, std::make_unique<SocketStream>(std::move(socket), GracefulClose::receipted),
                                   lifetime_.guard([this, peer = served->peer, id](const StreamOutcome& outcome) {
                                     on_stream_ended(peer, id, outcome);
                                   }));
}

/// The services that the peer may reach, for an error message at both ends: never "here".
std::string SocketServices::offered_to(const ServedConnection& served) const {
  constexpr std::size_t kMostNames = 3;  // spec: docs/spec/stream.md §2: a RESET holds three of the longest
  std::vector<std::string> names;
  bool has_unnamed = false;
  for (const Queue& queue : queues_) {
    const std::string& name = queue.service.name;
    if (!served.may_reach(name)) continue;
    if (name.empty())
      has_unnamed = true;
    else
      names.push_back(name);
  }
  if (names.empty()) return has_unnamed ? "; offered: one without a name, by --from PORT" : "";
  const std::string first = names.front();
  const std::size_t untold = names.size() - std::min(names.size(), kMostNames);
  names.resize(names.size() - untold);
  if (untold > 0) names.push_back(fmt::format("{} more", untold));
  return fmt::format("; offered: {}, as in --from PORT={}", fmt::join(names, ", "), first);
}

/// Only the operator's message tells a service that the peer may not reach from one that does not exist.
void SocketServices::refuse_name(ServedConnection& served, StreamId id, const std::string& name) {
  const std::string tried = name.empty() ? "reach the service without a name" : "reach the service " + name;
  const Error why{Errc::stream_refused, tried, "no such service" + offered_to(served)};
  served.connection.refuse_stream(id, why);
  const bool is_there =
      std::ranges::find(queues_, name, [](const Queue& each) { return each.service.name; }) != queues_.end();
  refused_names_.report(served.peer, is_there ? Error{why.code, tried, "this peer may not"} : why);
}

void SocketServices::refuse(ServedConnection& served, StreamId id, const Error& why) {
  served.connection.refuse_stream(id, why);
  error_log_.report(served.peer, why);
}

void SocketServices::on_stream_ended(const Endpoint& peer, StreamId id, const StreamOutcome& outcome) {
  core::log().debug("stream {} of {} ended: {}", id, peer.to_string(),
                    outcome.error ? outcome.error->message() : "whole");
  if (outcome.error && is_loggable(*outcome.error)) error_log_.report(peer, *outcome.error);
}

}  // namespace
}  // namespace udtcat::bridge

namespace udtcat {

std::unique_ptr<Services> make_services(boost::asio::io_context& io, std::vector<Service> services,
                                        Services::ErrorHandler on_error, AddressFamily family) {
  return std::make_unique<bridge::SocketServices>(io, std::move(services), family, std::move(on_error));
}

}  // namespace udtcat
