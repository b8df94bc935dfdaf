// SPDX-License-Identifier: Apache-2.0
/// A path that is no address: its datagrams go to another program, such as ssh. See Channel::set_tunnel().
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <udtcat/endpoint.hpp>

#include "lib/core/chunk.hpp"
#include "lib/net/datagram_socket.hpp"

namespace udtcat::transport::native {

/// Threads: confined, as Channel.
class Tunnel {
 public:
  void open(AddressFamily family, std::function<void(std::span<const std::byte>)> send) {
    address_ = tunnel_address(family);
    send_ = std::move(send);
  }
  [[nodiscard]] bool is_open() const { return send_ != nullptr; }
  /// Whether datagrams to, or as if from, `address` are the tunnel's.
  [[nodiscard]] bool is_at(const Endpoint& address) const { return is_open() && address == address_; }
  [[nodiscard]] net::SendResult send(const net::DatagramTrain& train) {
    auto piece = train.pieces.begin();
    for (const std::uint16_t pieces : train.piece_counts) {
      datagram_.clear();
      for (const auto end = piece + pieces; piece != end; ++piece)
        datagram_.insert(datagram_.end(), piece->begin(), piece->end());
      send_(datagram_);
    }
    return {net::SendState::sent, train.datagrams()};
  }
  /// datagram   that came, of at most a chunk's bytes
  /// returns    with an empty chunk where there is no memory
  [[nodiscard]] net::ReceivedTrain received(std::span<const std::byte> datagram, core::ChunkPool& chunks) const {
    net::ReceivedTrain train{.chunk = chunks.acquire(),
                             .total_bytes = datagram.size(),
                             .segment_bytes = datagram.size(),
                             .from = address_,
                             .to = {}};
    if (!train.chunk.empty()) std::ranges::copy(datagram, train.chunk.bytes().begin());
    return train;
  }

 private:
  Endpoint address_;
  std::function<void(std::span<const std::byte>)> send_;  // none: it is not open
  std::vector<std::byte> datagram_;                       // gathered
};

}  // namespace udtcat::transport::native
