/// A connection at its port: what the driver keeps beside the protocol.
#pragma once

#include <cstdint>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "transport/native/connection.hpp"

namespace udtcat::transport::native {

/// Told when its connection has made progress: bytes came or left, or it ended.
class LinkUser {
 public:
  virtual ~LinkUser() = default;
  /// May write, read, close or destroy itself.
  virtual void on_progress() = 0;
};

/// Threads: confined, as Channel.
struct Link {
  Link(boost::asio::io_context& io, const ConnectionSettings& settings, core::ChunkPool& chunks)
      : connection(settings, chunks), timer(io) {}

  Connection connection;
  LinkUser* user = nullptr;  // none: nobody has accepted it yet, or it is released
  bool released = false;     // nobody wants it any more: forgotten once it is over
  boost::asio::steady_timer timer;
  TimePoint armed_for = TimePoint::max();
  bool flush_scheduled = false;
  bool touched = false;                    // by the datagrams being handled
  std::vector<std::byte> handshake_reply;  // for a client that did not hear it; empty at the connecting end
};

}  // namespace udtcat::transport::native
