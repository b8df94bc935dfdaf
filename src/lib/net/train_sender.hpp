/// The way out of a DatagramSocket: trains in as few system calls as the kernel takes them.
#pragma once

#include <cstddef>
#include <memory>

#include "lib/net/datagram_socket.hpp"

namespace udtcat::net {

/// Threads: unsynchronised.
class TrainSender {
 public:
  /// `offload`: try to let the kernel cut trains (UDP_SEGMENT).
  TrainSender(const UdpSocket& socket, bool offload);
  ~TrainSender();
  TrainSender(const TrainSender&) = delete;
  TrainSender& operator=(const TrainSender&) = delete;

  /// See DatagramSocket; `socket` is always the one given first.
  [[nodiscard]] SendResult send(const UdpSocket& socket, const DatagramTrain& train);
  [[nodiscard]] std::size_t max_train_datagrams() const;
  void probe_path_mtu(const UdpSocket& socket, bool on);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace udtcat::net
