/// make_tcp_forward(): accepts local TCP connections and makes each a stream.
#include <memory>
#include <utility>
#include <vector>

#include <udtcat/bridges.hpp>

#include "lib/bridge/asio_terms.hpp"
#include "lib/bridge/tcp_acceptor.hpp"
#include "lib/bridge/tcp_stream.hpp"
#include "lib/bridge/trouble.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"

namespace udtcat {
namespace {

using boost::asio::ip::tcp;
using bridge::TcpEnd;

/// Threads: confined to the io_context thread.
class AcceptingForward final : public TcpForward {
 public:
  AcceptingForward(boost::asio::io_context& io, Connection& connection, bridge::TcpPorts ports,
                   TroubleHandler on_trouble)
      : connection_(connection), trouble_(io, std::move(on_trouble)), ports_(std::move(ports)) {
    ports_.accept([this](tcp::socket socket) { open_stream(std::move(socket)); },
                  [this](const Endpoint& local, const Error& error) { trouble_.report(local, error); });
  }

  [[nodiscard]] std::vector<Endpoint> local_endpoints() const override { return ports_.local_endpoints(); }

 private:
  void open_stream(tcp::socket socket) {
    boost::system::error_code error;
    const Endpoint client = bridge::from_asio(socket.remote_endpoint(error));  // none of a client that has gone already
    connection_.open_stream(
        std::make_unique<bridge::TcpStream>(std::move(socket), TcpEnd::receipted),
        lifetime_.guard([this, client](const StreamOutcome& outcome) { on_stream_ended(client, outcome); }));
  }
  void on_stream_ended(const Endpoint& client, const StreamOutcome& outcome) {
    core::log().debug("stream of {} ended: {}", client.to_string(), outcome.error ? outcome.error->message() : "whole");
    if (outcome.error && bridge::is_trouble(*outcome.error)) trouble_.report(client, *outcome.error);
  }

  Connection& connection_;
  bridge::TroubleReporter trouble_;
  bridge::TcpPorts ports_;
  core::Lifetime lifetime_;
};

}  // namespace

Result<std::unique_ptr<TcpForward>> make_tcp_forward(boost::asio::io_context& io, Connection& connection,
                                                     const std::vector<Endpoint>& locals,
                                                     TcpForward::TroubleHandler on_trouble) {
  UDTCAT_TRY(auto ports, bridge::TcpPorts::bind(io, locals, TcpEnd::receipted));
  return std::make_unique<AcceptingForward>(io, connection, std::move(ports), std::move(on_trouble));
}

}  // namespace udtcat
