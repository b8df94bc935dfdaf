// SPDX-License-Identifier: Apache-2.0
/// The connections of a port, by the numbers and addresses that packets name them by.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/endpoint.hpp>

#include "lib/transport/native/overload_detector.hpp"
#include "lib/transport/native/udt_connection.hpp"

namespace udtcat::transport::native {

class UdpPort;

/// A connection's address and socket number at its peer.
struct PeerName {
  Endpoint address;  // at the handshake
  std::uint32_t id = 0;
  friend bool operator<(const PeerName& a, const PeerName& b) {
    if (a.id != b.id) return a.id < b.id;
    if (a.address.size_bytes() != b.address.size_bytes()) return a.address.size_bytes() < b.address.size_bytes();
    return std::memcmp(a.address.data(), b.address.data(), a.address.size_bytes()) < 0;
  }
};

/// A connection's channel. It may write, read and close from inside a call, and posts what else is to be done.
class LinkUser {
 public:
  /// Packets may have come: their data are taken before the next ACK says how much room there is.
  virtual void on_received() = 0;
  /// Packets may have left, or the connection has ended.
  virtual void on_sent() = 0;

 protected:
  ~LinkUser() = default;
};

/// A connection at its port: what the port keeps beside the protocol.
///
///   unaccepted ──use()──► used ──release()──► released ──the connection is over──► forgotten
///
/// Threads: confined, as Channel.
struct UdtLink {
  UdtLink(UdpPort& at, boost::asio::io_context& io, const ConnectionSettings& settings, bool proved_key,
          core::ChunkPool& chunks)
      : port(at),
        connection(settings, chunks),
        name{settings.peer_address, settings.peer_id},
        proved(proved_key),
        timer(io) {}

  enum class State { unaccepted, used, released };

  /// The user outlives its use of the link, which is there until it is released, and whose connection it uses directly.
  void use(LinkUser& by);
  /// To be called after each change of the connection by its user: what follows from it is done soon.
  void schedule();
  /// The link is left to itself: it drains, if it was closed, and is forgotten.
  void release();

  UdpPort& port;
  UdtConnection connection;
  const PeerName name;
  const bool proved;  // let in, and held the key (KeyProof)
  State state = State::unaccepted;
  LinkUser* user = nullptr;  // none: not used
  boost::asio::steady_timer timer;
  TimePoint armed_for = TimePoint::max();
  bool trains_off = false;  // as the log has been told
  bool scheduled = false;
  bool touched = false;  // by the datagrams being handled
  OverloadDetector::Share share;
  std::vector<std::byte> handshake_reply;  // for a client that did not hear it; empty at the connecting end
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
