// SPDX-License-Identifier: Apache-2.0
/// The connections of a port, by the numbers and addresses that packets name them by.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include <udtcat/endpoint.hpp>

#include "lib/transport/native/udt_link.hpp"

namespace udtcat::transport::native {

/// Threads: confined, as Channel.
class ConnectionTable {
 public:
  UdtLink& add(std::unique_ptr<UdtLink> link) {
    UdtLink& added = *link;
    by_peer_.insert_or_assign(added.name, &added);
    if (added.proved) ++proved_;
    by_id_.insert_or_assign(added.connection.local_id(), std::move(link));
    return added;
  }
  void erase(const UdtLink& link) {
    if (const auto named = by_peer_.find(link.name); named != by_peer_.end() && named->second == &link)
      by_peer_.erase(named);
    if (link.proved) --proved_;
    by_id_.erase(link.connection.local_id());
  }

  /// By our number, or by the peer's address and number at the handshake.  none: there is no such connection
  [[nodiscard]] UdtLink* find(std::uint32_t local_id) const {
    const auto found = by_id_.find(local_id);
    return found == by_id_.end() ? nullptr : found->second.get();
  }
  [[nodiscard]] UdtLink* find(const PeerName& peer) const {
    const auto found = by_peer_.find(peer);
    return found == by_peer_.end() ? nullptr : found->second;
  }
  /// By our number.
  [[nodiscard]] const std::unordered_map<std::uint32_t, std::unique_ptr<UdtLink>>& all() const { return by_id_; }
  [[nodiscard]] bool has_host(const Endpoint& peer) const {
    return std::ranges::any_of(by_id_, [host = peer.with_port(0)](const auto& each) {
      return each.second->connection.peer_address().with_port(0) == host;
    });
  }

  [[nodiscard]] bool empty() const { return by_id_.empty(); }
  [[nodiscard]] std::size_t size() const { return by_id_.size(); }
  /// Of connections to clients that have, or have not, proved the key.
  [[nodiscard]] std::size_t count(bool proved) const { return proved ? proved_ : size() - proved_; }

 private:
  std::unordered_map<std::uint32_t, std::unique_ptr<UdtLink>> by_id_;
  std::map<PeerName, UdtLink*> by_peer_;
  std::size_t proved_ = 0;
};

}  // namespace udtcat::transport::native
