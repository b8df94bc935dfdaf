// SPDX-License-Identifier: Apache-2.0
/// One remote command, seen from where its user is. ssh starts the far end, then the command's bytes move over a
/// session of ours.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <boost/asio/steady_timer.hpp>

#include <udtcat/peering.hpp>

#include "ssh/ssh_dial.hpp"
#include "ssh/ssh_path.hpp"
#include "tool/run/session_run.hpp"

namespace udtcat::rsh {

struct RemoteCommandOptions : ssh::SshDialOptions {
  bool require_udp = false;
};

/// How a remote command ended: the last message about it.
struct CommandExit {
  std::optional<int> status;  ///< none: a signal ended it
  std::string signal_name;    ///< of that signal
};

/// From the bootstrap to the end.
///
///   starting (ssh) ──► dialling ──► running ──► finished
///      │── no udtcat there  └── no answer on UDP ──► over ssh ──► finished
///      └── a login that is no shell, or known not to work ──► finished; the caller becomes plain_ssh()
///
/// Threads: confined to the main thread.
class RemoteCommand {
 public:
  /// core_limit_bytes   what ssh may dump
  /// `run` and `options` must outlive this. Its end is that of `run`.
  RemoteCommand(tool::SessionRun& run, const RemoteCommandOptions& options, std::uint64_t core_limit_bytes);
  ~RemoteCommand();

  /// errors: those of SshDial::start()
  [[nodiscard]] Status start();
  /// The program that takes this process's place, once SessionRun::run() has returned; none: nothing.
  [[nodiscard]] const std::optional<bridge::ChildRequest>& plain_ssh() const { return plain_ssh_; }

 private:
  class NearEnd;
  class OverSsh;

  void begin(std::unique_ptr<Connection> connection);
  void conclude(Result<CommandExit> end);
  void finish(Result<CommandExit> end);
  void go_without_session(Error why);
  void leave_to_ssh(Error why);
  void interrupt(const Error& why);

  tool::SessionRun& run_;
  const RemoteCommandOptions& options_;
  boost::asio::steady_timer timeout_;
  ssh::SshDial dial_;
  std::unique_ptr<NearEnd> near_;
  std::unique_ptr<OverSsh> over_ssh_;     // none: not yet, or there is a session
  std::optional<ssh::SshPath> ssh_path_;  // none: not yet, or only UDP will do
  std::optional<bridge::ChildRequest> plain_ssh_;
};

}  // namespace udtcat::rsh
