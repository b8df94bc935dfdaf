#include "gridftp/gateway/gateway.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "gridftp/gateway/gateway_session.hpp"
#include "lib/bridge/tcp_acceptor.hpp"
#include "lib/bridge/trouble.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp {

using boost::asio::ip::tcp;

namespace {

/// PORT and PASV have no room for others.
std::vector<Endpoint> of_ipv4(const std::vector<Endpoint>& endpoints) {
  std::vector<Endpoint> chosen;
  std::ranges::copy_if(endpoints, std::back_inserter(chosen),
                       [](const Endpoint& each) { return each.family() == AddressFamily::ipv4; });
  return chosen;
}

/// Threads: confined to the io_context thread.
class FarGateway final : public TcpService {
 public:
  FarGateway(boost::asio::io_context& io, ServerBehind server, TroubleHandler on_trouble)
      : io_(io), server_(std::move(server)), trouble_(io, std::move(on_trouble)) {}

  void serve(Connection& connection) override {
    // It lives in the connection's handler, and so no longer than the connection.
    const auto session = std::make_shared<GatewaySession>(
        io_, connection, server_,
        lifetime_.guard([this](const Endpoint& where, const Error& error) { trouble_.report(where, error); }));
    connection.on_stream([session](StreamId id) { session->take_stream(id); });
  }

 private:
  boost::asio::io_context& io_;
  const ServerBehind server_;
  bridge::TroubleReporter trouble_;
  core::Lifetime lifetime_;
};

/// Threads: confined to the io_context thread.
class NearGateway final : public TcpForward {
 public:
  NearGateway(boost::asio::io_context& io, Connection& connection, bridge::TcpPorts ports, TroubleHandler on_trouble)
      : trouble_(io, std::move(on_trouble)),
        session_(std::make_shared<GatewaySession>(
            io, connection, std::nullopt,
            lifetime_.guard([this](const Endpoint& where, const Error& error) { trouble_.report(where, error); }))),
        ports_(std::move(ports)) {
    connection.on_stream([session = session_](StreamId id) { session->take_stream(id); });
    ports_.accept([this](tcp::socket socket) { session_->take_client(std::move(socket)); },
                  [this](const Endpoint& local, const Error& error) { trouble_.report(local, error); });
  }

  [[nodiscard]] std::vector<Endpoint> local_endpoints() const override { return ports_.local_endpoints(); }

 private:
  bridge::TroubleReporter trouble_;
  core::Lifetime lifetime_;
  const std::shared_ptr<GatewaySession> session_;
  bridge::TcpPorts ports_;
};

}  // namespace

Result<std::unique_ptr<TcpService>> make_far_gateway(boost::asio::io_context& io, const std::vector<Endpoint>& targets,
                                                     std::string server_name, TcpService::TroubleHandler on_trouble) {
  auto chosen = of_ipv4(targets);
  if (chosen.empty())
    return fail(Errc::cannot_resolve, "find " + server_name, "a gridftp gateway needs an IPv4 address of its server");
  return std::make_unique<FarGateway>(io, ServerBehind{std::move(chosen), std::move(server_name)},
                                      std::move(on_trouble));
}

Result<std::unique_ptr<TcpForward>> make_near_gateway(boost::asio::io_context& io, Connection& connection,
                                                      const std::vector<Endpoint>& locals,
                                                      TcpForward::TroubleHandler on_trouble) {
  const auto chosen = of_ipv4(locals);
  if (chosen.empty())
    return fail(Errc::bad_argument, "listen for FTP clients", "a gridftp gateway needs an IPv4 address for --from");
  UDTCAT_TRY(auto ports, bridge::TcpPorts::bind(io, chosen, bridge::TcpEnd::receipted));
  return std::make_unique<NearGateway>(io, connection, std::move(ports), std::move(on_trouble));
}

}  // namespace udtcat::gridftp
