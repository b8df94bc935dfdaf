// SPDX-License-Identifier: Apache-2.0
/// One session between two gateways: its streams are control and data connections of FTP.  spec: docs/spec/gridftp.md
/// §6
///
///   near:  client ─► take_client() ─► control stream ─────► take_stream() ─► the FTP server     :far
///          data   ◄─ take_stream() ◄──── data stream ◄───── a port that stands in ◄─ data
///   and data the other way round likewise
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/connection.hpp>
#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "gridftp/gateway/control_ports.hpp"
#include "gridftp/gateway/gateway_stream.hpp"
#include "lib/bridge/tcp_connect.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/net/resolver.hpp"

namespace udtcat::gridftp {

inline constexpr std::chrono::milliseconds kGreetingTimeout{10'000};  // spec: docs/spec/gridftp.md §6

inline constexpr const char* kNeedsIpv4 = "a gridftp gateway needs an IPv4 address of its server";

/// Where control connections from the other side go.
struct UpstreamServer {
  HostPort address;
  std::shared_ptr<net::Resolver> resolver;  ///< asked for each of them; one for all sessions, whose answers they share
};

/// Threads: confined to the io_context thread. The connection must outlive it, or own it.
class GatewaySession {
 public:
  /// One line for the operator.
  using ErrorHandler = std::function<void(const Endpoint& where, const Error& error)>;

  /// server   none: this gateway is next to the clients, and refuses control connections of the other
  GatewaySession(boost::asio::io_context& io, Connection& connection, std::optional<UpstreamServer> server,
                 ErrorHandler on_error, std::chrono::milliseconds greeting_timeout = kGreetingTimeout);

  /// A control connection of a client's.  ended   called when its stream has ended
  void take_client(
      boost::asio::ip::tcp::socket socket, std::function<void()> ended = [] {});
  /// The other gateway has opened a stream.
  void take_stream(StreamId id);

 private:
  /// A stream that has not been connected yet.
  struct PendingStream {
    explicit PendingStream(boost::asio::io_context& io) : timer(io) {}
    boost::asio::steady_timer timer;
    std::optional<bridge::TcpConnect> attempt;
  };

  void on_line(StreamId id, const Result<std::string>& line, const DeferredStream::Attach& attach);
  void look_up(StreamId id, const GatewayGreeting& greeting, const DeferredStream::Attach& attach);
  void connect(StreamId id, const GatewayGreeting& greeting, const DeferredStream::Attach& attach,
               const std::vector<Endpoint>& targets);
  void on_connected(const GatewayGreeting& greeting, const DeferredStream::Attach& attach,
                    boost::asio::ip::tcp::socket socket);
  void refuse(StreamId id, const Error& why);
  void open_data_stream(const Endpoint& announced, boost::asio::ip::tcp::socket socket);
  [[nodiscard]] std::unique_ptr<LocalStream> make_control_stream(boost::asio::ip::tcp::socket socket, LocalPeer local);
  [[nodiscard]] bool is_announced(const Endpoint& endpoint);
  void on_stream_ended(const Endpoint& where, const StreamOutcome& outcome);

  boost::asio::io_context& io_;
  Connection& connection_;
  const std::optional<UpstreamServer> server_;
  const ErrorHandler on_error_;
  const std::chrono::milliseconds greeting_timeout_;
  std::map<StreamId, PendingStream> pending_;          // at most kMaxPendingStreams
  std::vector<std::weak_ptr<ControlPorts>> controls_;  // each belongs to its control stream: at most as many as streams
  core::Lifetime lifetime_;
};

}  // namespace udtcat::gridftp
