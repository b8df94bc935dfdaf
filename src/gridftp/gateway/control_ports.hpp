// SPDX-License-Identifier: Apache-2.0
/// The data ports of one control connection: those announced on our side, and the ports here that replace those which
/// the other side announced.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "gridftp/gateway/control_relay.hpp"
#include "lib/bridge/tcp_acceptor.hpp"

namespace udtcat::gridftp {

/// At most kMaxDataPorts each way; a new first one takes the place of all before it. A port takes connections from any
/// host, as a stock peer's does: in a transfer between two servers they come from a third. See docs/threat-model.md.
/// Threads: confined to the io_context thread.
class ControlPorts final : public DataPorts {
 public:
  /// A data connection for what the other side announced so.
  using ConnectionHandler = std::function<void(const Endpoint& announced, boost::asio::ip::tcp::socket)>;
  using ShortageHandler = bridge::TcpAcceptor::ShortageHandler;

  /// local, peer   of the control connection: ports are opened on the one, and loopback is believed only of the other's
  /// own host
  ControlPorts(boost::asio::io_context& io, Endpoint local, Endpoint peer, ConnectionHandler on_connection,
               ShortageHandler on_shortage)
      : io_(io),
        local_(local),
        peer_(peer),
        on_connection_(std::move(on_connection)),
        on_shortage_(std::move(on_shortage)) {}

  [[nodiscard]] Status announce(const Endpoint& endpoint, bool first) override;
  [[nodiscard]] Result<Endpoint> stand_in(const Endpoint& announced, bool first) override;
  [[nodiscard]] bool has_announced(const Endpoint& endpoint) const;

 private:
  boost::asio::io_context& io_;
  const Endpoint local_;
  const Endpoint peer_;
  const ConnectionHandler on_connection_;
  const ShortageHandler on_shortage_;
  std::vector<Endpoint> announced_;
  std::vector<std::unique_ptr<bridge::TcpAcceptor>> listening_;
};

}  // namespace udtcat::gridftp
