// SPDX-License-Identifier: Apache-2.0
/// From ssh's login to a connection: ssh starts the far end, which is then dialled at each address that it may have.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include <udtcat/peering.hpp>

#include "lib/bridge/child_process.hpp"
#include "lib/core/lifetime.hpp"
#include "ssh/bootstrap.hpp"
#include "ssh/candidates.hpp"
#include "ssh/fallback_cache.hpp"
#include "ssh/port_range.hpp"
#include "ssh/push_progress.hpp"
#include "ssh/ssh_invocation.hpp"
#include "tool/cli/options.hpp"
#include "tool/run/session_run.hpp"

namespace udtcat::ssh {

/// Options::connect_timeout says how long UDP is tried.
struct SshDialOptions : tool::Options {
  SshArguments ssh;                             ///< of the ssh command that this one replaces
  std::vector<std::string> ssh_program{"ssh"};  ///< and its first words, as in --ssh 'ssh -p 2222'
  std::optional<std::string> udp_host;          ///< one more address of the far end
  std::string remote_program = "udtcat";
  bool push = false;
  std::optional<bool> push_progress;  ///< none: where a person is watching
  std::string host;                   ///< of the destination, without its user
  PortRange ports;                    ///< of the far end
  std::string far_command = "rsh-server";
  std::vector<std::string> far_options{};
  /// The advice where the far host has no udtcat, which is needed over ssh, too; null: ssh alone can run the command.
  const char* needs_udtcat = nullptr;
  bool tries_udp = false;  ///< also where it did not work within the last hour
};

/// One far end.
/// Threads: confined to the main thread. Handlers are called there, not after destruction.
class SshDial {
 public:
  struct Handlers {
    std::function<void(std::unique_ptr<Connection>)> on_connection;
    /// The far host has no udtcat, or UDP does not reach it. Its cause is advice; ssh still runs.
    std::function<void(Error why)> on_no_session;
    /// The command has to go over ssh alone: plain_ssh(). Its cause is advice; nothing has been run, and no ssh runs.
    std::function<void(Error why)> on_plain;
    /// status   what ssh exited with, where it has: 255: it has said why itself
    std::function<void(const Error&, std::optional<int> status)> on_no_far_end;
  };

  /// core_limit_bytes   what ssh may dump
  /// `run` and `options` must outlive this.
  SshDial(tool::SessionRun& run, const SshDialOptions& options, std::uint64_t core_limit_bytes, Handlers handlers);

  /// errors: those of Bootstrap::start() and own_programs()
  [[nodiscard]] Status start();
  [[nodiscard]] Bootstrap& ssh() { return *bootstrap_; }
  /// ssh with the user's command.
  [[nodiscard]] bridge::ChildRequest plain_ssh() const;

  /// Tells the commands of the next hour to the same destination.
  void remember(FallbackReason reason) const;
  /// UDP works: the next commands try it.
  void forget_fallback() const;

  /// The session is over: ends ssh, unless it goes by itself at once, or others may be using its connection.
  void leave(std::function<void()> on_left);
  void end(std::function<void()> on_ended);

 private:
  [[nodiscard]] bridge::ChildRequest ssh_request(std::vector<std::string> words) const;
  [[nodiscard]] bool is_shared() const;
  void recall();
  void start_plain();
  void on_unusable_login(const Bootstrap::UnusableLogin& unusable);
  [[nodiscard]] std::vector<Endpoint> candidates_of(const ConnectLine& line);
  void on_push(const Bootstrap::Push& push);
  void on_have(std::uint64_t bytes);
  void show_push();
  void end_push();
  void on_absent(Error why);
  /// The user named the udtcat of the far host.
  [[nodiscard]] bool names_program() const { return options_.remote_program != SshDialOptions().remote_program; }
  void on_failure(const Error& error, std::optional<int> status);
  void pass_on(const std::string& noise);
  void dial(const ConnectLine& line);
  [[nodiscard]] std::string tried() const;
  void on_no_answer(const std::string& cause, bool is_remembered);

  tool::SessionRun& run_;
  const SshDialOptions& options_;
  const std::uint64_t core_limit_bytes_;
  const Handlers handlers_;
  const SshInvocation invocation_;
  const std::uint16_t dialling_port_;  // of ours
  std::optional<SshConfig> config_;    // none: ssh does not say
  bool uses_master_ = false;
  std::optional<FallbackCache> fallbacks_;  // none: the destination is unknown, or the user has no cache
  std::optional<FallbackReason> reason_;    // of the last hour
  std::vector<Endpoint> candidates_;
  std::unique_ptr<Bootstrap> bootstrap_;
  std::unique_ptr<Dialer> dialer_;
  std::optional<PushProgress> push_;  // none: no program is being pushed, or nobody wants to see it
  std::chrono::steady_clock::time_point push_began_;
  boost::asio::steady_timer push_timer_;
  core::Lifetime lifetime_;
};

/// Ends the run for want of a far end; without a message where ssh itself failed, which has printed one.
void finish_without_far_end(tool::SessionRun& run, const Error& error, std::optional<int> ssh_status);

}  // namespace udtcat::ssh
