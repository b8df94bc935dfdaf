// SPDX-License-Identifier: Apache-2.0
/// Puts packets into a train, in which all but the last have the same size, and holds their headers.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "lib/net/datagram_socket.hpp"
#include "lib/transport/native/packet.hpp"

namespace udtcat::transport::native {

/// Reused: the train refers to memory that is valid until clear().
/// Threads: unsynchronised.
class TrainBuilder {
 public:
  static constexpr std::size_t kMaxPackets = 64;  // spec: Linux, UDP_MAX_SEGMENTS

  /// most_packets, most_bytes   what the socket takes in one call
  TrainBuilder(std::size_t most_packets, std::size_t most_bytes);

  void clear();
  [[nodiscard]] bool empty() const { return train_.datagrams() == 0; }
  [[nodiscard]] const net::DatagramTrain& train() const { return train_; }
  [[nodiscard]] net::DatagramTrain& train() { return train_; }

  /// Whether a packet of `payload_bytes` may be the next one.
  [[nodiscard]] bool takes(std::size_t payload_bytes) const;
  /// Begins a data packet; its payload's pieces follow by payload().
  void begin_packet(const DataHeader& header, std::size_t payload_bytes);
  [[nodiscard]] std::vector<std::span<const std::byte>>& payload() { return train_.pieces; }
  void end_packet();
  /// The socket has taken the first packets.
  void drop_front(std::size_t packets);
  /// Copies the payloads of a train that has to wait: their owner frees them once they are acknowledged.
  void keep();
  /// A whole control packet, alone in its train.
  void set_control(std::vector<std::byte> packet);

 private:
  const std::size_t most_packets_;
  const std::size_t most_bytes_;
  net::DatagramTrain train_;
  std::array<std::array<std::byte, kHeaderBytes>, kMaxPackets> headers_{};
  std::vector<std::byte> control_;
  std::vector<std::byte> kept_;
  std::size_t packet_bytes_ = 0;  // of the packet being made
  std::size_t first_piece_ = 0;
  bool ends_short_ = false;
};

}  // namespace udtcat::transport::native
