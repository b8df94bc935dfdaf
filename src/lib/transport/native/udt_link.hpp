/// A connection at its port: what the driver keeps beside the protocol.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/transport/native/udt_connection.hpp"

namespace udtcat::transport::native {

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
struct UdtLink {
  UdtLink(boost::asio::io_context& io, const ConnectionSettings& settings, core::ChunkPool& chunks)
      : connection(settings, chunks), name{settings.peer_address, settings.peer_id}, timer(io) {}

  UdtConnection connection;
  const PeerName name;
  bool proved = false;  // let in, and held the key (Door)
  /// Called when the connection has made progress: bytes came or left, or it ended. May write, read and close, and
  /// posts what else is to be done.  none: nobody has accepted the link yet, or it is released
  std::function<void()> on_progress;
  bool released = false;  // nobody wants it any more: forgotten once it is over
  boost::asio::steady_timer timer;
  TimePoint armed_for = TimePoint::max();
  bool flush_scheduled = false;
  bool touched = false;                    // by the datagrams being handled
  std::vector<std::byte> handshake_reply;  // for a client that did not hear it; empty at the connecting end
};

}  // namespace udtcat::transport::native
