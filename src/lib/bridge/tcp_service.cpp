/// make_tcp_service(): connects the streams that peers open to a TCP service.
///
///   on_stream ─► TcpConnect ─► accept_stream(TcpStream)
///                        └───► refuse_stream(why), and a line for the operator
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <udtcat/bridges.hpp>

#include "lib/bridge/asio_terms.hpp"
#include "lib/bridge/tcp_connect.hpp"
#include "lib/bridge/tcp_stream.hpp"
#include "lib/bridge/trouble.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/core/log.hpp"

namespace udtcat::bridge {
namespace {

constexpr std::size_t kMaxAttempts = 256;  // guess: a quarter of the descriptors a process has by default
constexpr auto kConnectPatience = std::chrono::seconds(10);  // guess: a service that is up answers in a round trip

/// Once this is gone, streams that wait for the service, and those that come, stay unanswered: close the connections
/// first.
/// Threads: confined to the io_context thread.
class ConnectingService final : public TcpService {
 public:
  ConnectingService(boost::asio::io_context& io, std::vector<Endpoint> targets, std::string target_name,
                    TroubleHandler on_trouble);

  void serve(Connection& connection) override;

 private:
  /// Lives in the connection's stream handler, and so no longer than the connection.
  struct Served {
    Connection& connection;
    const Endpoint peer;
  };

  void connect(const std::shared_ptr<Served>& served, StreamId id);
  void answer(Served& served, StreamId id, std::error_code error, boost::asio::ip::tcp::socket socket);
  void on_stream_ended(const Endpoint& peer, StreamId id, const StreamOutcome& outcome);

  boost::asio::io_context& io_;
  const std::vector<Endpoint> targets_;
  const std::string target_name_;
  TroubleReporter trouble_;
  std::uint64_t attempts_made_ = 0;
  std::map<std::uint64_t, TcpConnect> attempts_;  // bounded by the streams that the connections let their peers open
  core::Lifetime lifetime_;
};

ConnectingService::ConnectingService(boost::asio::io_context& io, std::vector<Endpoint> targets,
                                     std::string target_name, TroubleHandler on_trouble)
    : io_(io),
      targets_(std::move(targets)),
      target_name_(std::move(target_name)),
      trouble_(io, std::move(on_trouble)) {}

void ConnectingService::serve(Connection& connection) {
  const auto served = std::make_shared<Served>(Served{connection, connection.peer()});
  connection.on_stream(lifetime_.guard([this, served](StreamId id) { connect(served, id); }));
}

void ConnectingService::connect(const std::shared_ptr<Served>& served, StreamId id) {
  // A peer could open and give up streams faster than the target answers.
  if (attempts_.size() >= kMaxAttempts) {
    const Error busy{Errc::local_connect_failed, "connect tcp " + target_name_, "too many attempts at once"};
    served->connection.refuse_stream(id, busy);
    return trouble_.report(served->peer, busy);
  }
  const std::uint64_t attempt = attempts_made_++;
  auto on_answer = [this, attempt, to = std::weak_ptr<Served>(served), id](std::error_code error,
                                                                           boost::asio::ip::tcp::socket socket) {
    attempts_.erase(attempt);
    const std::shared_ptr<Served> still_served = to.lock();
    if (!still_served) return TcpConnect::reset(socket);
    answer(*still_served, id, error, std::move(socket));
  };
  attempts_.try_emplace(attempt, io_, targets_, kConnectPatience, std::move(on_answer));
}

void ConnectingService::answer(Served& served, StreamId id, std::error_code error,
                               boost::asio::ip::tcp::socket socket) {
  if (error) {
    const Error reason{Errc::local_connect_failed, "connect tcp " + target_name_, cause_of(error)};
    served.connection.refuse_stream(id, reason);
    return trouble_.report(served.peer, reason);
  }
  served.connection.accept_stream(id, std::make_unique<TcpStream>(std::move(socket), TcpEnd::receipted),
                                  lifetime_.guard([this, peer = served.peer, id](const StreamOutcome& outcome) {
                                    on_stream_ended(peer, id, outcome);
                                  }));
}

void ConnectingService::on_stream_ended(const Endpoint& peer, StreamId id, const StreamOutcome& outcome) {
  core::log().debug("stream {} of {} ended: {}", id, peer.to_string(),
                    outcome.error ? outcome.error->message() : "whole");
  if (outcome.error && is_trouble(*outcome.error)) trouble_.report(peer, *outcome.error);
}

}  // namespace
}  // namespace udtcat::bridge

namespace udtcat {

std::unique_ptr<TcpService> make_tcp_service(boost::asio::io_context& io, std::vector<Endpoint> targets,
                                             std::string target_name, TcpService::TroubleHandler on_trouble) {
  return std::make_unique<bridge::ConnectingService>(io, std::move(targets), std::move(target_name),
                                                     std::move(on_trouble));
}

}  // namespace udtcat
