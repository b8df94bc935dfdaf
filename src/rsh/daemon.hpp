// SPDX-License-Identifier: Apache-2.0
/// Runs what a list allows for each peer that proves the key.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <udtcat/peering.hpp>

#include "rsh/allow_list.hpp"
#include "rsh/far_end.hpp"
#include "tool/cli/options.hpp"
#include "tool/identity/credential_lookup.hpp"
#include "tool/run/peer_listener.hpp"
#include "tool/run/peer_log.hpp"
#include "tool/run/rejected_connections.hpp"
#include "tool/run/session_run.hpp"

namespace udtcat::rsh {

/// Threads: confined to the main thread.
class Daemon {
 public:
  Daemon(tool::SessionRun& run, AllowList list)
      : run_(run),
        list_(std::move(list)),
        ends_(run.io()),
        rejected_(run.io()),
        peer_log_(run.io(), [&run](const std::string& line) { run.say(line); }) {}

  /// errors: those of tool::PeerListener::start()
  [[nodiscard]] Status start(const tool::Options& options, tool::FoundCredentials found);
  void allow(AllowList list) { list_ = std::move(list); }

 private:
  void take(std::unique_ptr<Connection> connection);
  void on_over(FarEnd& end, const Status& status);
  void stop(const Error& why);
  [[nodiscard]] ConnectionStats total() const;
  void add_to(tool::ProcessSnapshot& snapshot) const;

  tool::SessionRun& run_;
  AllowList list_;
  FarEnds ends_;
  tool::RejectedConnections rejected_;
  tool::PeerLog peer_log_;
  ConnectionStats past_;  // of connections that have gone
  bool stopping_ = false;
  std::unique_ptr<tool::PeerListener> listener_;
};

}  // namespace udtcat::rsh
