// SPDX-License-Identifier: Apache-2.0
/// The sending side of a port: the trains of its connections, and the one for which the socket has no room.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/endpoint.hpp>

#include "lib/net/datagram_socket.hpp"
#include "lib/net/udp_socket.hpp"
#include "lib/transport/native/socket_wait.hpp"
#include "lib/transport/native/train_builder.hpp"
#include "lib/transport/native/tunnel.hpp"
#include "lib/transport/native/udt_connection.hpp"

namespace udtcat::transport::native {

/// Threads: confined, as Channel.
class PortTransmitter {
 public:
  /// socket, tunnel   outlive this
  /// on_unblocked     the socket has room again: every connection may have something to send
  PortTransmitter(boost::asio::io_context& io, net::DatagramSocket& socket, Tunnel& tunnel,
                  std::function<void()> on_unblocked);

  /// Sends all that the connection has to send, or nothing while blocked().
  void transmit(UdtConnection& connection);
  /// Best effort: one packet, of no connection.
  net::SendResult send_alone(std::vector<std::byte> packet, const Endpoint& to, const std::optional<Endpoint>& from);

  /// The rest of a train waits until the socket has room: no connection sends before.
  [[nodiscard]] bool blocked() const { return blocked_ != nullptr; }
  /// Drops the train that waits: its packets are sent again once they are missed.
  void unblock();
  /// The connection is about to be destroyed.
  void forget(const UdtConnection& connection) {
    if (blocked_ == &connection) unblock();
  }
  /// The socket is another one.
  void on_new_socket() { may_fragment_ = true; }

 private:
  [[nodiscard]] bool send_train(UdtConnection& connection);
  [[nodiscard]] net::SendResult send(const net::DatagramTrain& train);
  void wait(net::SendState why);
  void send_what_waited();

  net::DatagramSocket& socket_;
  Tunnel& tunnel_;
  const std::function<void()> on_unblocked_;
  TrainBuilder builder_;
  TrainBuilder alone_;                     // for send_alone()
  UdtConnection* blocked_ = nullptr;       // the rest of its train is in builder_
  bool may_fragment_ = true;               // as the socket is set
  std::optional<net::UdpSocket> watched_;  // a duplicate of the socket, which is watched for reading
  SocketWait wait_;
};

}  // namespace udtcat::transport::native
