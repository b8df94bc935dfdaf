// SPDX-License-Identifier: Apache-2.0
/// A service's log of its peers: who comes and who goes.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

#include <boost/asio/io_context.hpp>

#include <udtcat/connection.hpp>
#include <udtcat/result.hpp>

#include "tool/run/event_log.hpp"

namespace udtcat::forward {

/// Tells of each peer, a holder of a key pair or a host, when its first session comes and its last one goes. One that
/// comes and goes without end is logged as any error: a few times at once, then by one line an interval that counts.
/// Threads: confined to the io_context thread.
class PeerLog {
 public:
  explicit PeerLog(boost::asio::io_context& io);
  void on_come(const Connection& connection);
  /// how   the session's end; one that is no ordinary end is a warning, with its reason
  void on_gone(Connection& connection, const Status& how);
  void flush() { log_.flush(); }

 private:
  struct PresentPeer {
    std::size_t sessions = 0;
    std::chrono::steady_clock::time_point since{};
    ConnectionStats past{};  // of its sessions that have gone
  };

  std::map<std::string, PresentPeer> present_;  // by the peers' names; no more than sessions
  tool::EventLog log_;
};

}  // namespace udtcat::forward
