// SPDX-License-Identifier: Apache-2.0
/// The sockets by which one UDP port receives: the bound one, and others beside it where the system keeps receive
/// buffers small (net.core.rmem_max). They hold as many times as much, and nothing is asked of root.
///
///   datagram ─► kernel: PortFilter ─► a socket ─► merged with the others' by its arrival
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <udtcat/result.hpp>

#include "lib/core/chunk.hpp"
#include "lib/net/datagram_socket.hpp"
#include "lib/net/train.hpp"
#include "lib/net/udp_socket.hpp"

namespace udtcat::net {

/// Threads: unsynchronised.
class ReceiveSockets {
 public:
  /// Prepares `bound`, which must outlive this. Where others cannot be had beside it, it receives alone.
  /// errors   Errc::cannot_bind
  [[nodiscard]] static Result<std::unique_ptr<ReceiveSockets>> make(UdpSocket& bound,
                                                                    const DatagramSocket::Options& options);
  /// The sockets of another port at the address of `first`, whose socket is `unbound`: as many as `first` has. They get
  /// nothing that is another port's once `first` steers.  errors   Errc::cannot_bind, Errc::out_of_resources
  [[nodiscard]] static Result<std::unique_ptr<ReceiveSockets>> make_beside(const ReceiveSockets& first,
                                                                           UdpSocket& unbound,
                                                                           const DatagramSocket::Options& options);
  ~ReceiveSockets();
  ReceiveSockets(const ReceiveSockets&) = delete;
  ReceiveSockets& operator=(const ReceiveSockets&) = delete;

  /// Of the first of several ports: see DatagramSocket::steer().
  [[nodiscard]] Status steer(std::uint32_t ports, std::uint32_t open_ports, std::size_t datagram_bytes);

  std::size_t receive(std::vector<ReceivedTrain>& into, std::size_t most, core::ChunkPool& chunks);
  /// The system gives the ICMP error of a datagram to whichever socket it likes.
  [[nodiscard]] std::vector<PathError> take_path_errors(std::size_t most);
  [[nodiscard]] std::uint64_t drops() const;
  [[nodiscard]] std::size_t buffer_bytes() const;
  /// Readable where one of the sockets is.
  [[nodiscard]] int descriptor() const;

 private:
  struct Source;
  explicit ReceiveSockets(UdpSocket& bound);
  [[nodiscard]] Status share(const DatagramSocket::Options& options, std::size_t sockets);
  [[nodiscard]] Status watch_bound();
  [[nodiscard]] Status open_beside(const Endpoint& local, const DatagramSocket::Options& options);
  void find_readable();
  [[nodiscard]] Source* earliest(core::ChunkPool& chunks);

  TrainReceiver receiver_;
  std::vector<std::unique_ptr<Source>> sources_;  // the bound socket's is the first
  int readable_ = -1;                             // an epoll of all sources; none where there is one
};

}  // namespace udtcat::net
