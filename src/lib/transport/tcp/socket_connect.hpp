// SPDX-License-Identifier: Apache-2.0
/// A connection of TCP to a host, made by an HTTP proxy where the user has one (docs/spec/tcp.md §6).
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/net/http_proxy.hpp"
#include "lib/net/resolver.hpp"
#include "lib/transport/tcp/tcp_socket.hpp"

namespace udtcat::transport::tcp {

///   connecting ─────────────────────────────────────────────────────────► done
///   resolving ──► connecting to the proxy ──► awaits its answer ──2xx─────►│
///
/// It has no deadline of its own. Threads: confined to the io_context thread.
class SocketConnect {
 public:
  /// Called once, not from inside the constructor; may destroy this.
  using Handler = std::function<void(Result<Socket>)>;
  /// Opens the socket, where it is not, and has it leave from an address of this host.  errors: Errc::cannot_bind
  using Bind = std::function<Status(Socket& socket, const Endpoint& to)>;

  /// peer      a proxy is asked for TransportOptions::proxied_host instead, where that is known
  /// bind      null: the system chooses
  /// errors    (to the handler) Errc::cannot_reach; those of `bind`
  SocketConnect(boost::asio::io_context& io, const Endpoint& peer, const TransportOptions& options, Handler handler,
                Bind bind = nullptr);

  /// The reason, should it be given up now.
  [[nodiscard]] std::string silence() const;

 private:
  enum class State { connecting, resolving, connecting_to_proxy, awaits_answer };

  [[nodiscard]] bool is_bound(const Endpoint& to);
  void on_connected(const boost::system::error_code& error);
  void connect_to_proxy();
  void ask_proxy();
  void wait();
  void read();
  void fail_with(const std::string& cause);
  void finish(Result<Socket> result);
  [[nodiscard]] std::string what() const;
  [[nodiscard]] std::string proxy_text() const;

  const Endpoint peer_;
  const std::shared_ptr<const HttpProxy> proxy_;  // null: none is in the way
  const HostPort target_;                         // as the proxy is asked for it
  const Handler handler_;
  const Bind bind_;  // null: the system chooses
  State state_ = State::connecting;
  Socket socket_;
  net::Resolver resolver_;
  std::vector<Endpoint> addresses_;  // of the proxy, that were not tried yet
  std::vector<std::byte> answer_;    // so far
  core::Lifetime lifetime_;
};

}  // namespace udtcat::transport::tcp
