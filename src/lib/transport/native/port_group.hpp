// SPDX-License-Identifier: Apache-2.0
/// A listener's address with several ports: each has its own sockets, connections and thread.
///
///   datagram ─► kernel: (destination id) mod ports ─► port 0, on the owner's thread: lets clients in
///                                                 ─► port 1, on an IoThread: connections that port 0 has given to it
///                                                 ─► …
///
/// The others open one after the other as connections come, so that a listener with one session is one port.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <udtcat/options.hpp>

#include "lib/transport/io_thread.hpp"
#include "lib/transport/native/other_ports.hpp"
#include "lib/transport/native/udp_port.hpp"

namespace udtcat::transport::native {

/// Threads: confined to the owner's. Its channels are gone before finish() is called.
class PortGroup final : private OtherPorts {
 public:
  /// first              the port that is there; outlives this
  /// threads            for ports 1 to threads.limit(); outlive this, and are stopped between finish() and the end of
  ///                    this
  /// options            of the first port
  /// owners_connections how many connections the owner's thread has
  PortGroup(UdpPort& first, IoThreads& threads, const TransportOptions& options, std::uint32_t mss,
            std::function<std::size_t()> owners_connections);
  ~PortGroup();
  PortGroup(const PortGroup&) = delete;
  PortGroup& operator=(const PortGroup&) = delete;

  /// Has the other ports drain their connections, each on its thread. Returns at once; the threads are busy until then.
  void finish();

 private:
  class FurtherPort;

  void hand_over(std::uint32_t port, std::span<const std::byte> packet, const net::ReceivedTrain& train) override;
  void on_path_errors(const std::vector<net::PathError>& errors) override;
  void on_forgotten(const UdtConnection& /*connection*/) override {}
  void note_path(const Endpoint& /*peer*/, const KnownPath& /*path*/) override {}
  [[nodiscard]] std::uint32_t ports() const override { return ports_; }
  [[nodiscard]] std::uint32_t port_for(const Endpoint& peer, bool beside) override;
  [[nodiscard]] std::unique_ptr<Channel> adopt(AdoptedLink link) override;

  [[nodiscard]] Status open_next();

  UdpPort& first_;
  IoThreads& threads_;
  const TransportOptions further_options_;
  const std::uint32_t mss_;
  const std::function<std::size_t()> owners_connections_;
  const std::uint32_t ports_;  // that there may be
  std::size_t openable_;       // of the further ones; fewer once one could not be opened
  std::vector<std::unique_ptr<FurtherPort>> further_;
};

}  // namespace udtcat::transport::native
