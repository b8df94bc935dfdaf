// SPDX-License-Identifier: Apache-2.0
/// The far end that ssh starts: it waits for a peer that proves the key, or for ssh to say that UDP does not work.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include <udtcat/candidate.hpp>
#include <udtcat/peering.hpp>

#include "ssh/connectivity_checks.hpp"
#include "ssh/datagram_pipe.hpp"
#include "ssh/port_range.hpp"
#include "ssh/ssh_input.hpp"
#include "tool/cli/options.hpp"
#include "tool/run/session_run.hpp"

namespace udtcat::ssh {

/// Options::accept_timeout says how long it waits.
struct FarOptions : tool::Options {
  PortRange ports;
};

/// As ssh: a failure of ours has status 255. A command that is run for the peer has kChildGrace to end.
[[nodiscard]] tool::ExitPolicy far_end_exit_policy();
/// Adds this host's name to our lines, which ssh mixes with the near end's.
void name_this_host(tool::Console& console);

/// Greets the near end, and hands its connections to what serves them. The near end may prove the key on several at
/// once, and asks on one:
///
///   waiting ── choose(), of a connection on which it asks ──► serving, until the run ends
///      ├── a request by ssh (on_request) ──► serving over ssh, or the run ends
///      └── ssh's end, or no peer in time ──► the run ends
///   waiting, serving ── CARRY DATAGRAMS by ssh ──► the same, and ssh is one more path
///
/// Threads: confined to the main thread. Handlers are called there, not after destruction.
class FarServer {
 public:
  static constexpr std::size_t kMaxConnections = 8;  // spec: docs/spec/rsh.md §1

  struct Handlers {
    /// A peer has proved the key. None comes after choose().
    std::function<void(std::unique_ptr<Connection>)> on_connection;
    /// There will be no session: ssh's pipes, which are our stdin and stdout, carry what the request asks for.
    std::function<void(const ControlMessage& request)> on_request;
    /// Tells the peers that we have to go.  returns  whether there is one to wait for
    std::function<bool(const Error& why)> abort_all;
  };

  /// `run` and `options` must outlive this. Its end is that of `run`.
  FarServer(tool::SessionRun& run, const FarOptions& options, Handlers handlers);

  /// Greets the near end on stdout.  errors: those of listen() but for Errc::cannot_bind, and Errc::local_write_failed
  [[nodiscard]] Status start();

  /// The near end has sent a request on this connection. returns  whether it is the first, which is served
  [[nodiscard]] bool choose(Connection& connection);
  /// A connection that on_connection gave is about to be destroyed.
  void forget(const Connection& connection);
  [[nodiscard]] bool is_chosen(const Connection& connection) const { return chosen_ == &connection; }

 private:
  [[nodiscard]] Status bind(const Key& key);
  void take(std::unique_ptr<Connection> connection);
  void on_ssh_message(const ControlMessage& message);
  void carry_datagrams();
  void on_ssh_end();

  tool::SessionRun& run_;
  const FarOptions& options_;
  const Handlers handlers_;
  boost::asio::steady_timer timeout_;
  std::unique_ptr<Listener> listener_;
  std::vector<Candidate> near_candidates_;
  std::optional<ConnectivityChecks> checks_;  // none: the near end is too old, or no port is left
  std::unique_ptr<SshInput> ssh_input_;
  std::unique_ptr<LocalStream> ssh_pipes_;  // while they carry datagrams
  std::vector<Connection*> authenticated_;  // that were not forgotten
  const Connection* chosen_ = nullptr;
  bool is_over_ssh_ = false;  // no session, but a request by ssh
  std::shared_ptr<DatagramPipe> tunnel_;
};

}  // namespace udtcat::ssh
