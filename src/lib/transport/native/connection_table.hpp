// SPDX-License-Identifier: Apache-2.0
/// The connections of a port, by the numbers and addresses that packets name them by.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <udtcat/endpoint.hpp>

#include "lib/transport/native/udt_link.hpp"

namespace udtcat::transport::native {

/// A connection that another port of the same address has (PortGroup).
struct FurtherLink {
  std::uint32_t port = 0;  ///< its number, from 1
  PeerName name;
  bool proved = false;
  std::vector<std::byte> handshake_reply;
};

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

  /// local_id   ours
  void add_elsewhere(std::uint32_t local_id, FurtherLink link) {
    elsewhere_by_peer_.insert_or_assign(link.name, local_id);
    if (link.proved) ++proved_;
    elsewhere_.insert_or_assign(local_id, std::move(link));
  }
  void erase_elsewhere(std::uint32_t local_id) {
    const auto found = elsewhere_.find(local_id);
    if (found == elsewhere_.end()) return;
    if (const auto named = elsewhere_by_peer_.find(found->second.name);
        named != elsewhere_by_peer_.end() && named->second == local_id)
      elsewhere_by_peer_.erase(named);
    if (found->second.proved) --proved_;
    elsewhere_.erase(found);
  }
  /// none: no other port has it
  [[nodiscard]] const FurtherLink* find_elsewhere(std::uint32_t local_id) const {
    const auto found = elsewhere_.find(local_id);
    return found == elsewhere_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] std::optional<std::uint32_t> find_elsewhere(const PeerName& peer) const {
    const auto found = elsewhere_by_peer_.find(peer);
    return found == elsewhere_by_peer_.end() ? std::nullopt : std::optional(found->second);
  }
  /// The port that has another connection of that address, whose packets may come in one train with this one's.
  /// any_port   of that host
  /// none: there is none; 0: this one
  [[nodiscard]] std::optional<std::uint32_t> port_of(const Endpoint& peer, bool any_port) const {
    const auto alike = [&](const Endpoint& other) {
      return any_port ? other.with_port(0) == peer.with_port(0) : other == peer;
    };
    for (const auto& [id, link] : by_id_)
      if (alike(link->name.address)) return 0;
    for (const auto& [id, link] : elsewhere_)
      if (alike(link.name.address)) return link.port;
    return std::nullopt;
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
  /// This port's, by our number.
  [[nodiscard]] const std::unordered_map<std::uint32_t, std::unique_ptr<UdtLink>>& all() const { return by_id_; }
  [[nodiscard]] bool has_host(const Endpoint& peer) const {
    const Endpoint host = peer.with_port(0);
    return std::ranges::any_of(
               by_id_, [&](const auto& each) { return each.second->connection.peer_address().with_port(0) == host; }) ||
           std::ranges::any_of(elsewhere_,
                               [&](const auto& each) { return each.second.name.address.with_port(0) == host; });
  }

  /// Whether this port has none.
  [[nodiscard]] bool empty() const { return by_id_.empty(); }
  [[nodiscard]] std::size_t own_size() const { return by_id_.size(); }
  /// Of all ports.
  [[nodiscard]] std::size_t size() const { return by_id_.size() + elsewhere_.size(); }
  /// Of connections to clients that have, or have not, proved the key.
  [[nodiscard]] std::size_t count(bool proved) const { return proved ? proved_ : size() - proved_; }

 private:
  std::unordered_map<std::uint32_t, std::unique_ptr<UdtLink>> by_id_;
  std::map<PeerName, UdtLink*> by_peer_;
  std::unordered_map<std::uint32_t, FurtherLink> elsewhere_;
  std::map<PeerName, std::uint32_t> elsewhere_by_peer_;
  std::size_t proved_ = 0;
};

}  // namespace udtcat::transport::native
