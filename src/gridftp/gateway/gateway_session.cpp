// SPDX-License-Identifier: Apache-2.0
#include "gridftp/gateway/gateway_session.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "gridftp/gateway/control_stream.hpp"
#include "lib/bridge/asio_conversions.hpp"
#include "lib/bridge/rate_limited_log.hpp"
#include "lib/bridge/socket_stream.hpp"
#include "lib/core/log.hpp"

namespace udtcat::gridftp {

using boost::asio::ip::tcp;

namespace {

constexpr std::size_t kMaxPendingStreams = 256;  // guess: a quarter of the descriptors a process has by default
constexpr auto kServerTimeout = std::chrono::seconds(10);  // guess: a server that is up answers in a round trip

Endpoint peer_of(const tcp::socket& socket) {
  boost::system::error_code error;
  return bridge::from_asio(socket.remote_endpoint(error));  // a peer that has gone already has none
}

std::unique_ptr<LocalStream> make_receipted(tcp::socket socket) {
  return std::make_unique<bridge::SocketStream>(std::move(socket), bridge::GracefulClose::receipted);
}

}  // namespace

GatewaySession::GatewaySession(boost::asio::io_context& io, Connection& connection,
                               std::optional<UpstreamServer> server, ErrorHandler on_error,
                               std::chrono::milliseconds greeting_timeout)
    : io_(io),
      connection_(connection),
      server_(std::move(server)),
      on_error_(std::move(on_error)),
      greeting_timeout_(greeting_timeout) {}

// ---- Streams that we open -------------------------------------------------------------------------------------------

void GatewaySession::take_client(tcp::socket socket, std::function<void()> ended) {
  const Endpoint client = peer_of(socket);
  connection_.open_stream(
      std::make_unique<PrefixedStream>(to_line({}), make_control_stream(std::move(socket), LocalPeer::client)),
      lifetime_.guard([this, client, ended = std::move(ended)](const StreamOutcome& outcome) {
        on_stream_ended(client, outcome);
        ended();
      }));
}

void GatewaySession::open_data_stream(const Endpoint& announced, tcp::socket socket) {
  const Endpoint peer = peer_of(socket);
  core::log().debug("data of {} for {}", peer.to_string(), announced.to_string());
  connection_.open_stream(
      std::make_unique<PrefixedStream>(to_line({announced}), make_receipted(std::move(socket))),
      lifetime_.guard([this, peer](const StreamOutcome& outcome) { on_stream_ended(peer, outcome); }));
}

std::unique_ptr<LocalStream> GatewaySession::make_control_stream(tcp::socket socket, LocalPeer local) {
  boost::system::error_code error;
  const Endpoint ours = bridge::from_asio(socket.local_endpoint(error));
  const Endpoint peer = peer_of(socket);
  auto on_data = [this](const Endpoint& announced, tcp::socket data) { open_data_stream(announced, std::move(data)); };
  auto on_shortage = [this](const Endpoint& at, std::error_code why) {
    on_error_(at, {Errc::out_of_resources, "accept data on tcp " + at.to_string(), bridge::cause_of(why)});
  };
  const auto ports = std::make_shared<ControlPorts>(io_, ours, peer, lifetime_.guard(std::move(on_data)),
                                                    lifetime_.guard(std::move(on_shortage)));
  std::erase_if(controls_, [](const auto& control) { return control.expired(); });
  controls_.push_back(ports);
  return std::make_unique<ControlStream>(io_, make_receipted(std::move(socket)), local, ports,
                                         lifetime_.guard([this, peer](const Error& why) { on_error_(peer, why); }));
}

// ---- Streams that the other gateway opens ---------------------------------------------------------------------------

void GatewaySession::take_stream(StreamId id) {
  // Bounded: a peer could open and give up streams faster than they are connected.
  if (pending_.size() >= kMaxPendingStreams) {
    const Error busy{Errc::stream_refused, "take a stream of GridFTP", "too many at once"};
    connection_.refuse_stream(id, busy);
    return on_error_(connection_.peer(), busy);
  }
  PendingStream& pending = pending_.try_emplace(id, io_).first->second;
  pending.timer.expires_after(greeting_timeout_);
  pending.timer.async_wait(lifetime_.guard([this, id](const boost::system::error_code& cancelled) {
    if (!cancelled) refuse(id, {Errc::stream_refused, "take a stream of GridFTP", "its greeting did not come in time"});
  }));
  const auto line = [this, id](const Result<std::string>& said, const DeferredStream::Attach& attach) {
    on_line(id, said, attach);
  };
  connection_.accept_stream(id, std::make_unique<DeferredStream>(io_, kMaxGreetingBytes, lifetime_.guard(line)),
                            lifetime_.guard([this, id](const StreamOutcome& outcome) {
                              pending_.erase(id);
                              on_stream_ended(connection_.peer(), outcome);
                            }));
}

void GatewaySession::on_line(StreamId id, const Result<std::string>& line, const DeferredStream::Attach& attach) {
  if (!pending_.contains(id)) return;  // its time was over already
  if (!line) return refuse(id, line.error());
  const auto greeting = parse_gateway_greeting(*line);
  if (!greeting) return refuse(id, greeting.error());
  if (greeting->data && !is_announced(*greeting->data))
    return refuse(id, {Errc::stream_refused, "connect data to " + greeting->data->to_string(), "it was not announced"});
  if (!greeting->data && !server_)
    return refuse(id, {Errc::stream_refused, "take a control connection", "this gateway has no server"});
  pending_.at(id).timer.cancel();
  if (greeting->data) return connect(id, *greeting, attach, std::vector(1, *greeting->data));
  look_up(id, *greeting, attach);
}

bool GatewaySession::is_announced(const Endpoint& endpoint) {
  return std::ranges::any_of(controls_, [&](const std::weak_ptr<ControlPorts>& control) {
    const auto ports = control.lock();
    return ports && ports->has_announced(endpoint);
  });
}

/// Resolves the server's name for each control connection: its address may have changed.
void GatewaySession::look_up(StreamId id, const GatewayGreeting& greeting, const DeferredStream::Attach& attach) {
  server_->resolver->look_up(
      server_->address, lifetime_.guard([this, id, greeting, attach](const Result<std::vector<Endpoint>>& found) {
        if (!pending_.contains(id)) return;  // given up
        if (found) return connect(id, greeting, attach, *found);
        refuse(id, {Errc::local_connect_failed, found.error().what, found.error().cause + "; " + kNeedsIpv4});
      }));
}

void GatewaySession::connect(StreamId id, const GatewayGreeting& greeting, const DeferredStream::Attach& attach,
                             const std::vector<Endpoint>& targets) {
  const std::string name =
      greeting.data ? greeting.data->to_string() : fmt::format("{}:{}", server_->address.host, server_->address.port);
  auto done = [this, id, greeting, attach, name](std::error_code error, tcp::socket socket) {
    if (error) return refuse(id, {Errc::local_connect_failed, "connect tcp " + name, bridge::cause_of(error)});
    pending_.erase(id);
    on_connected(greeting, attach, std::move(socket));
  };
  pending_.at(id).attempt.emplace(io_, targets, kServerTimeout, std::move(done));
}

void GatewaySession::on_connected(const GatewayGreeting& greeting, const DeferredStream::Attach& attach,
                                  tcp::socket socket) {
  attach(greeting.data ? make_receipted(std::move(socket)) : make_control_stream(std::move(socket), LocalPeer::server));
}

void GatewaySession::refuse(StreamId id, const Error& why) {
  pending_.erase(id);
  connection_.refuse_stream(id, why);  // its end is told in on_stream_ended()
}

void GatewaySession::on_stream_ended(const Endpoint& where, const StreamOutcome& outcome) {
  core::log().debug("stream of {} ended: {}", where.to_string(), outcome.error ? outcome.error->message() : "whole");
  if (outcome.error && bridge::is_loggable(*outcome.error)) on_error_(where, *outcome.error);
}

}  // namespace udtcat::gridftp
