/// The way into a DatagramSocket: what is there, in as few system calls as the kernel gives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lib/net/datagram_socket.hpp"

namespace udtcat::net {

/// Threads: unsynchronised.
class TrainReceiver {
 public:
  TrainReceiver();
  ~TrainReceiver();
  TrainReceiver(const TrainReceiver&) = delete;
  TrainReceiver& operator=(const TrainReceiver&) = delete;

  /// Has the kernel join datagrams to trains (UDP_GRO) and say where they were sent to.  errors: Errc::cannot_bind
  [[nodiscard]] Status prepare(const UdpSocket& socket, const DatagramSocket::Options& options);
  /// See DatagramSocket; `socket` is always the one that was prepared.
  std::size_t receive(const UdpSocket& socket, std::vector<ReceivedTrain>& into, std::size_t most,
                      core::ChunkPool& chunks);
  [[nodiscard]] std::uint64_t drops() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace udtcat::net
