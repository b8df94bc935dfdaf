// SPDX-License-Identifier: Apache-2.0
/// The other ports of one address, each on a thread of its own, as a port sees them. See PortGroup.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <udtcat/endpoint.hpp>
#include <udtcat/known_paths.hpp>

#include "lib/net/datagram_socket.hpp"
#include "lib/transport/channel.hpp"
#include "lib/transport/native/udt_connection.hpp"

namespace udtcat::transport::native {

/// A connection that one port has let in, for another.
struct AdoptedLink {
  std::uint32_t port = 0;  ///< its number
  ConnectionSettings settings;
  bool proved = false;
  std::uint32_t timestamp_us = 0;           ///< of the client's conclusion
  std::vector<std::byte> handshake_data{};  ///< that came with it
  std::chrono::nanoseconds arrived{0};      ///< likewise
};

/// Ports have numbers from 0; the number of a connection, modulo ports(), is its port's. The first lets clients in.
/// Threads: each port calls on its own.
class OtherPorts {
 public:
  /// Gives another port a packet of its connections: the system, or the peer's trains, brought it here. Copied;
  /// dropped where many are on their way.
  virtual void hand_over(std::uint32_t port, std::span<const std::byte> packet, const net::ReceivedTrain& train) = 0;
  virtual void on_path_errors(const std::vector<net::PathError>& errors) = 0;

  // Of the others than the first:
  virtual void on_forgotten(const UdtConnection& connection) = 0;
  virtual void note_path(const Endpoint& peer, const KnownPath& path) = 0;

  // Of the first:
  [[nodiscard]] virtual std::uint32_t ports() const = 0;
  /// The port for a new connection with that peer.
  /// beside   where its host has another one
  [[nodiscard]] virtual std::uint32_t port_for(const Endpoint& peer, bool beside) = 0;
  [[nodiscard]] virtual std::unique_ptr<Channel> adopt(AdoptedLink link) = 0;

 protected:
  ~OtherPorts() = default;
};

}  // namespace udtcat::transport::native
