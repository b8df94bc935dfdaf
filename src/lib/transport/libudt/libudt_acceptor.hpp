// SPDX-License-Identifier: Apache-2.0
/// A listening UDP port, one UDT socket for each address family.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/transport/engine.hpp"
#include "lib/transport/libudt/port_watch.hpp"
#include "lib/transport/libudt/runtime.hpp"
#include "lib/transport/libudt/udt_socket.hpp"

namespace udtcat::transport::libudt {

/// One bound address.
struct BoundListener {
  UdtSocket socket;
  Endpoint local;
  std::shared_ptr<PortWatch> port_watch;
  std::optional<net::UdpSocket> alias;  ///< libudt knows it by this port, kept so that no other socket gets its number
};

/// libudt blocks in accept or says nothing, so it is polled. Channels go on when the acceptor is gone. libudt keeps the
/// port for some seconds longer.
/// Threads: confined, as Acceptor.
class LibudtAcceptor final : public Acceptor {
 public:
  /// idle_timeout   of its channels
  LibudtAcceptor(boost::asio::io_context& io, std::shared_ptr<Runtime> runtime, std::vector<BoundListener> listeners,
                 std::chrono::milliseconds idle_timeout);

  void async_accept(ChannelHandler handler) override;
  [[nodiscard]] std::vector<Endpoint> local_endpoints() const override;

 private:
  void poll_after(std::chrono::milliseconds delay);
  void poll();
  /// none: no client waits at this listener
  [[nodiscard]] std::optional<Result<std::unique_ptr<Channel>>> accept_at(const BoundListener& listener);

  boost::asio::io_context& io_;
  const std::shared_ptr<Runtime> runtime_;
  std::vector<BoundListener> listeners_;
  const std::chrono::milliseconds idle_timeout_;
  boost::asio::steady_timer timer_;
  ChannelHandler handler_;
  core::Lifetime lifetime_;
};

/// Binds every endpoint, one a family, on one port.  errors: Errc::cannot_bind, Errc::out_of_resources,
/// Errc::bad_argument
[[nodiscard]] Result<std::vector<BoundListener>> bind_listeners(const std::vector<Endpoint>& locals, BitRate rate);

}  // namespace udtcat::transport::libudt
