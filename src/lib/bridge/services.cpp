/// make_services(): connects the streams that peers open.
///
///   on_stream ─► line ─► TcpConnect, UnixConnect ─► accept_stream(SocketStream)
///                                          └──────► refuse_stream(why), and a line for the operator
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <udtcat/bridges.hpp>

#include "lib/bridge/asio_terms.hpp"
#include "lib/bridge/socket_stream.hpp"
#include "lib/bridge/tcp_connect.hpp"
#include "lib/bridge/trouble.hpp"
#include "lib/bridge/unix_socket.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/core/log.hpp"

namespace udtcat::bridge {
namespace {

constexpr std::size_t kMaxAttempts = 256;                    // guess: below every service's backlog
constexpr auto kConnectPatience = std::chrono::seconds(10);  // guess: a service that is up answers in a round trip

/// Once this is gone, streams that wait for a service, and those that come, stay unanswered: close the connections
/// first.
/// Threads: confined to the io_context thread.
class SocketServices final : public Services {
 public:
  SocketServices(boost::asio::io_context& io, std::vector<Service> services, TroubleHandler on_trouble)
      : io_(io), services_(std::move(services)), trouble_(io, std::move(on_trouble)) {}

  void serve(Connection& connection, Permission may_reach) override;

 private:
  /// Lives in the connection's stream handler, and so no longer than the connection.
  struct Served {
    Connection& connection;
    const Endpoint peer;
    const Permission may_reach;
  };
  /// A stream that waits for its service.
  struct Arrival {
    std::weak_ptr<Served> from;
    StreamId id;
    const Service* service;
  };

  void take(const std::shared_ptr<Served>& served, StreamId id);
  void connect_next();
  void connect(const Arrival& arrival);
  void answer(const Arrival& arrival, std::error_code error, StreamSocket socket);
  void refuse(Served& served, StreamId id, const Error& why);
  void on_stream_ended(const Endpoint& peer, StreamId id, const StreamOutcome& outcome);

  boost::asio::io_context& io_;
  const std::vector<Service> services_;
  TroubleReporter trouble_;
  std::deque<Arrival> line_;  // bounded, as the next, by the streams that the connections let their peers open
  std::uint64_t attempts_made_ = 0;
  std::map<std::uint64_t, std::variant<std::monostate, TcpConnect, UnixConnect>> attempts_;  // at most kMaxAttempts
  core::Lifetime lifetime_;
};

void SocketServices::serve(Connection& connection, Permission may_reach) {
  const auto served = std::make_shared<Served>(Served{connection, connection.peer(), std::move(may_reach)});
  connection.on_stream(lifetime_.guard([this, served](StreamId id) { take(served, id); }));
}

void SocketServices::take(const std::shared_ptr<Served>& served, StreamId id) {
  const std::string name = served->connection.service_of(id);
  const auto service = std::ranges::find(services_, name, &Service::name);
  const std::string tried = name.empty() ? "reach the service" : "reach the service " + name;
  if (service == services_.end()) return refuse(*served, id, {Errc::stream_refused, tried, "there is none here"});
  if (!served->may_reach(name)) return refuse(*served, id, {Errc::stream_refused, tried, "this peer may not"});
  line_.push_back({served, id, &*service});
  connect_next();
}

void SocketServices::connect_next() {
  while (!line_.empty() && attempts_.size() < kMaxAttempts) {
    const Arrival next = line_.front();
    line_.pop_front();
    if (!next.from.expired()) connect(next);
  }
}

void SocketServices::connect(const Arrival& arrival) {
  const std::uint64_t attempt = attempts_made_++;
  const auto on_answer = [this, attempt, arrival](std::error_code error, auto socket) {
    attempts_.erase(attempt);
    answer(arrival, error, std::move(socket));
    connect_next();
  };
  const SocketAddress& to = arrival.service->address;
  auto& place = attempts_[attempt];
  if (to.unix_path.empty())
    place.emplace<TcpConnect>(io_, to.tcp, kConnectPatience, on_answer);
  else
    place.emplace<UnixConnect>(io_, to.unix_path, kConnectPatience, on_answer);
}

void SocketServices::answer(const Arrival& arrival, std::error_code error, StreamSocket socket) {
  const std::shared_ptr<Served> served = arrival.from.lock();
  if (!served) {
    boost::system::error_code none;
    socket.close(none);  // a reset: its destructor would take that back, and the stream look like an empty one
    return;
  }
  if (error)
    return refuse(*served, arrival.id,
                  {Errc::local_connect_failed, "connect " + arrival.service->shown, cause_of(error)});
  served->connection.accept_stream(
      arrival.id, std::make_unique<SocketStream>(std::move(socket), SocketEnd::receipted),
      lifetime_.guard([this, peer = served->peer, id = arrival.id](const StreamOutcome& outcome) {
        on_stream_ended(peer, id, outcome);
      }));
}

void SocketServices::refuse(Served& served, StreamId id, const Error& why) {
  served.connection.refuse_stream(id, why);
  trouble_.report(served.peer, why);
}

void SocketServices::on_stream_ended(const Endpoint& peer, StreamId id, const StreamOutcome& outcome) {
  core::log().debug("stream {} of {} ended: {}", id, peer.to_string(),
                    outcome.error ? outcome.error->message() : "whole");
  if (outcome.error && is_trouble(*outcome.error)) trouble_.report(peer, *outcome.error);
}

}  // namespace
}  // namespace udtcat::bridge

namespace udtcat {

std::unique_ptr<Services> make_services(boost::asio::io_context& io, std::vector<Service> services,
                                        Services::TroubleHandler on_trouble) {
  return std::make_unique<bridge::SocketServices>(io, std::move(services), std::move(on_trouble));
}

}  // namespace udtcat
