// SPDX-License-Identifier: Apache-2.0
/// The listener of a run.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/peering.hpp>
#include <udtcat/result.hpp>

#include "lib/core/user_text.hpp"
#include "tool/cli/options.hpp"
#include "tool/identity/credential_lookup.hpp"
#include "tool/run/session_run.hpp"
#include "tool/run/warnings.hpp"
#include "tool/status/snapshot.hpp"

namespace udtcat::tool {

/// Lets peers in as the options ask, says where, logs those that it refuses, and reads its peers file when told to.
/// Threads: confined to the main thread.
class PeerListener {
 public:
  /// `run` must outlive this.  severity   as announce_listener() has it
  /// errors: those of make_listen_request(), listen() and announce_listener()
  [[nodiscard]] static Result<std::unique_ptr<PeerListener>> start(SessionRun& run, const Options& options,
                                                                   FoundCredentials found,
                                                                   Listener::PeerHandler on_peer,
                                                                   Severity severity = Severity::info);
  PeerListener(const PeerListener&) = delete;
  PeerListener& operator=(const PeerListener&) = delete;

  /// Logs and counts one more peer as refused: it was let in, and something else turns it away.
  void add_refused(const Endpoint& peer, const Error& why) { refusals_.add(peer, why); }
  [[nodiscard]] std::string addresses() const;
  void add_to(ProcessSnapshot& snapshot) const;
  void stop() {
    listener_->stop();
    refusals_.flush();
  }

 private:
  PeerListener(boost::asio::io_context& io, TransportKind kind) : protocol_(core::protocol_of(kind)), refusals_(io) {}
  /// "udp 0.0.0.0:9000"
  [[nodiscard]] std::vector<std::string> names() const;

  const std::string_view protocol_;
  RefusalLog refusals_;
  std::unique_ptr<Listener> listener_;
};

}  // namespace udtcat::tool
