/// A connection at its port: what the driver keeps beside the protocol.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/transport/native/connection.hpp"

namespace udtcat::transport::native {

/// Told when its connection has made progress: bytes came or left, or it ended.
class LinkUser {
 public:
  virtual ~LinkUser() = default;
  /// May write, read, close or destroy itself.
  virtual void on_progress() = 0;
};

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

/// Threads: confined, as Channel.
struct Link {
  Link(boost::asio::io_context& io, const ConnectionSettings& settings, core::ChunkPool& chunks)
      : connection(settings, chunks), name{settings.peer_address, settings.peer_id}, timer(io) {}

  Connection connection;
  const PeerName name;
  bool proved = false;       // let in, and held the key (Door)
  LinkUser* user = nullptr;  // none: nobody has accepted it yet, or it is released
  bool released = false;     // nobody wants it any more: forgotten once it is over
  boost::asio::steady_timer timer;
  TimePoint armed_for = TimePoint::max();
  bool flush_scheduled = false;
  bool touched = false;                    // by the datagrams being handled
  std::vector<std::byte> handshake_reply;  // for a client that did not hear it; empty at the connecting end
};

}  // namespace udtcat::transport::native
