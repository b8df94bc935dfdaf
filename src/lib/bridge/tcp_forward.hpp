/// Accepts local TCP connections and makes each a stream. make_tcp_forward() is in <udtcat/bridges.hpp>.
#pragma once

#include <deque>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <udtcat/bridges.hpp>

#include "lib/bridge/tcp_acceptor.hpp"
#include "lib/bridge/trouble.hpp"
#include "lib/core/lifetime.hpp"

namespace udtcat::bridge {

/// Threads: confined to the io_context thread.
class AcceptingForward final : public TcpForward {
 public:
  AcceptingForward(boost::asio::io_context& io, Connection& connection,
                   std::vector<boost::asio::ip::tcp::acceptor> listening, TroubleHandler on_trouble);

  [[nodiscard]] std::vector<Endpoint> local_endpoints() const override;

 private:
  void open_stream(boost::asio::ip::tcp::socket socket);
  void on_stream_ended(const Endpoint& client, const StreamOutcome& outcome);
  void on_shortage(const Endpoint& local, std::error_code error);

  Connection& connection_;
  TroubleReporter trouble_;
  std::deque<TcpAcceptor> acceptors_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::bridge
