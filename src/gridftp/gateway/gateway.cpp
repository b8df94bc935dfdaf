#include "gridftp/gateway/gateway.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "gridftp/gateway/gateway_session.hpp"
#include "lib/bridge/asio_terms.hpp"
#include "lib/bridge/tcp_acceptor.hpp"
#include "lib/bridge/trouble.hpp"
#include "lib/core/lifetime.hpp"

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
  NearGateway(boost::asio::io_context& io, Connection& connection, std::vector<tcp::acceptor> listening,
              TroubleHandler on_trouble)
      : trouble_(io, std::move(on_trouble)),
        session_(std::make_shared<GatewaySession>(
            io, connection, std::nullopt,
            lifetime_.guard([this](const Endpoint& where, const Error& error) { trouble_.report(where, error); }))) {
    connection.on_stream([session = session_](StreamId id) { session->take_stream(id); });
    for (tcp::acceptor& acceptor : listening)
      acceptors_.emplace_back(
          std::move(acceptor), [this](tcp::socket socket) { session_->take_client(std::move(socket)); },
          [this](const Endpoint& local, std::error_code error) {
            trouble_.report(local,
                            {Errc::out_of_resources, "accept tcp " + local.to_string(), bridge::cause_of(error)});
          });
  }

  [[nodiscard]] std::vector<Endpoint> local_endpoints() const override {
    std::vector<Endpoint> locals;
    for (const bridge::TcpAcceptor& acceptor : acceptors_) locals.push_back(acceptor.local_endpoint());
    return locals;
  }

 private:
  bridge::TroubleReporter trouble_;
  core::Lifetime lifetime_;
  const std::shared_ptr<GatewaySession> session_;
  std::deque<bridge::TcpAcceptor> acceptors_;
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
  std::vector<tcp::acceptor> listening;
  for (const Endpoint& local : of_ipv4(locals)) {
    auto acceptor = bridge::TcpAcceptor::bind(io, local, bridge::TcpEnd::receipted);
    if (!acceptor) return fail(Errc::cannot_bind, "bind tcp " + local.to_string(), bridge::cause_of(acceptor.error()));
    listening.push_back(std::move(*acceptor));
  }
  if (listening.empty())
    return fail(Errc::bad_argument, "listen for FTP clients", "a gridftp gateway needs an IPv4 address for --from");
  return std::make_unique<NearGateway>(io, connection, std::move(listening), std::move(on_trouble));
}

}  // namespace udtcat::gridftp
