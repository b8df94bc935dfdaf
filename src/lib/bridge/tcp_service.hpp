/// Connects the streams that peers open to a TCP service. make_tcp_service() is in <udtcat/bridges.hpp>.
///
///   on_stream ─► TcpConnect ─► accept_stream(TcpStream)
///                        └───► refuse_stream(why), and a line for the operator
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/bridges.hpp>

#include "lib/bridge/tcp_connect.hpp"
#include "lib/bridge/trouble.hpp"
#include "lib/core/lifetime.hpp"

namespace udtcat::bridge {

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

}  // namespace udtcat::bridge
