// SPDX-License-Identifier: Apache-2.0
/// A listener's connection to a meeting place's relay, until the other end speaks by it (docs/spec/meet.md §6).
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/transport/engine.hpp"
#include "lib/transport/tcp/socket_connect.hpp"
#include "lib/transport/tcp/tcp_socket.hpp"

namespace udtcat::transport::tcp {

///   connecting ──► the token is said ──► bytes have come ──► done
///   anything else, and kRelayPatience: an error
///
/// Threads: confined to the io_context thread. Reads nothing.
class RelayedHalf {
 public:
  /// Called once, not from inside the constructor, with a connection on which the other end's hello begins; may destroy
  /// this.
  using Handler = std::function<void(Result<Socket>)>;

  RelayedHalf(boost::asio::io_context& io, const Endpoint& relay, const RelayToken& token,
              const TransportOptions& options, Handler handler);

  [[nodiscard]] const RelayToken& token() const { return token_; }

 private:
  void on_connected(Result<Socket> made);
  void fail_with(const std::string& cause);
  void finish(Result<Socket> result);

  const Endpoint relay_;
  const RelayToken token_;
  const Handler handler_;
  std::unique_ptr<SocketConnect> connecting_;
  std::optional<Socket> socket_;  // none: not connected yet
  boost::asio::steady_timer deadline_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::transport::tcp
