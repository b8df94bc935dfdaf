// SPDX-License-Identifier: Apache-2.0
/// One remote command, seen from where its user is. ssh starts the far end, then the command's bytes move over a
/// session of ours.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include <udtcat/peering.hpp>

#include "lib/bridge/child_process.hpp"
#include "rsh/bootstrap.hpp"
#include "rsh/candidates.hpp"
#include "rsh/near_end.hpp"
#include "rsh/rsh_server.hpp"
#include "rsh/ssh_words.hpp"
#include "tool/options.hpp"
#include "tool/session_run.hpp"

namespace udtcat::rsh {

/// Options::connect_timeout says how long UDP is tried.
struct RemoteCommandOptions : tool::Options {
  SshWords ssh;                                 ///< for which we stand in
  std::vector<std::string> ssh_program{"ssh"};  ///< and its first words, as in --ssh 'ssh -p 2222'
  std::optional<std::string> udp_host;          ///< one more place to look for the far end
  std::string remote_program = "udtcat";
  bool require_udp = false;
  bool push = false;
  std::string host;                      ///< of the destination, without its user
  PortRange ports;                       ///< of the far end; of a daemon the first one counts
  std::vector<std::string> far_options;  ///< the words of rsh-server
};

/// From the bootstrap to the end.
///
///   starting (ssh) ──► dialling ──► running ──► finished
///                         └── no answer on UDP ──► over ssh ──► finished
///
/// Threads: confined to the main thread.
class RemoteCommand {
 public:
  /// core_limit_bytes   what ssh may dump
  /// `run` and `options` must outlive this. Its end is that of `run`.
  RemoteCommand(tool::SessionRun& run, const RemoteCommandOptions& options, std::uint64_t core_limit_bytes);

  /// errors: those of Bootstrap::start() and own_program()
  [[nodiscard]] Status start();
  /// Without ssh: the daemon that waits at the host.  errors: Errc::cannot_resolve
  [[nodiscard]] Status start_at_daemon(std::optional<Credentials> credentials);

 private:
  [[nodiscard]] bridge::ChildRequest ssh_for(const std::string& script) const;
  void pass_on(const std::string& noise);
  void on_no_far_end(const Error& error, std::optional<int> status);
  void dial(const ConnectLine& line);
  void begin(std::unique_ptr<Connection> connection);
  void conclude(Result<CommandEnd> end);
  [[nodiscard]] std::string tried() const;
  void on_no_answer(const std::string& cause);
  void go_without_udp(Error why);
  void interrupt(const Error& why);

  tool::SessionRun& run_;
  const RemoteCommandOptions& options_;
  const std::uint64_t core_limit_bytes_;
  boost::asio::steady_timer patience_;
  std::vector<Endpoint> candidates_;
  std::unique_ptr<Bootstrap> bootstrap_;
  std::unique_ptr<DialRace> race_;
  std::unique_ptr<Dialer> dialer_;
  std::unique_ptr<NearEnd> near_;
};

}  // namespace udtcat::rsh
