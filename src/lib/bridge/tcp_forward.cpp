#include "lib/bridge/tcp_forward.hpp"

#include <cstdint>
#include <memory>
#include <utility>

#include "lib/bridge/asio_terms.hpp"
#include "lib/bridge/tcp_stream.hpp"
#include "lib/core/log.hpp"

namespace udtcat::bridge {
namespace {

using boost::asio::ip::tcp;

constexpr int kPortDraws = 16;  // guess: the odds that a port free in one family is taken in the other are small

/// Binds all of `locals`; those that ask for port 0 share the one that the first of them is given.
Result<std::vector<tcp::acceptor>> bind_all(boost::asio::io_context& io, const std::vector<Endpoint>& locals) {
  std::vector<tcp::acceptor> bound;
  std::uint16_t drawn_port = 0;
  for (const Endpoint& local : locals) {
    const Endpoint wanted = local.port() == 0 ? local.with_port(drawn_port) : local;
    auto acceptor = TcpAcceptor::bind(io, wanted, TcpEnd::receipted);
    if (!acceptor) return fail(Errc::cannot_bind, "bind tcp " + wanted.to_string(), cause_of(acceptor.error()));
    boost::system::error_code error;
    if (wanted.port() == 0) drawn_port = acceptor->local_endpoint(error).port();
    bound.push_back(std::move(*acceptor));
  }
  return bound;
}

/// A port drawn in one family may be taken in the other; then another is drawn.
Result<std::vector<tcp::acceptor>> bind_with_draws(boost::asio::io_context& io, const std::vector<Endpoint>& locals) {
  Result<std::vector<tcp::acceptor>> bound = bind_all(io, locals);
  const bool draws = locals.size() > 1 && locals.front().port() == 0;
  for (int drawn = 1; !bound && draws && drawn < kPortDraws; ++drawn) bound = bind_all(io, locals);
  return bound;
}

}  // namespace

AcceptingForward::AcceptingForward(boost::asio::io_context& io, Connection& connection,
                                   std::vector<tcp::acceptor> listening, TroubleHandler on_trouble)
    : connection_(connection), trouble_(io, std::move(on_trouble)) {
  for (tcp::acceptor& acceptor : listening)
    acceptors_.emplace_back(
        std::move(acceptor), [this](tcp::socket socket) { open_stream(std::move(socket)); },
        [this](const Endpoint& local, std::error_code error) { on_shortage(local, error); });
}

std::vector<Endpoint> AcceptingForward::local_endpoints() const {
  std::vector<Endpoint> locals;
  for (const TcpAcceptor& acceptor : acceptors_) locals.push_back(acceptor.local_endpoint());
  return locals;
}

void AcceptingForward::open_stream(tcp::socket socket) {
  boost::system::error_code error;
  const Endpoint client = from_asio(socket.remote_endpoint(error));  // a client that has gone already has none
  connection_.open_stream(
      std::make_unique<TcpStream>(std::move(socket), TcpEnd::receipted),
      lifetime_.guard([this, client](const StreamOutcome& outcome) { on_stream_ended(client, outcome); }));
}

void AcceptingForward::on_stream_ended(const Endpoint& client, const StreamOutcome& outcome) {
  core::log().debug("stream of {} ended: {}", client.to_string(), outcome.error ? outcome.error->message() : "whole");
  if (outcome.error && is_trouble(*outcome.error)) trouble_.report(client, *outcome.error);
}

void AcceptingForward::on_shortage(const Endpoint& local, std::error_code error) {
  trouble_.report(local, {Errc::out_of_resources, "accept tcp " + local.to_string(), cause_of(error)});
}

}  // namespace udtcat::bridge

namespace udtcat {

Result<std::unique_ptr<TcpForward>> make_tcp_forward(boost::asio::io_context& io, Connection& connection,
                                                     const std::vector<Endpoint>& locals,
                                                     TcpForward::TroubleHandler on_trouble) {
  auto listening = bridge::bind_with_draws(io, locals);
  if (!listening) return tl::unexpected(listening.error());
  return std::make_unique<bridge::AcceptingForward>(io, connection, std::move(*listening), std::move(on_trouble));
}

}  // namespace udtcat
