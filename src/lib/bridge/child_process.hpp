// SPDX-License-Identifier: Apache-2.0
/// A program that we start, the pipes that lead to it, and its end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/result.hpp>

#include "lib/bridge/child_watchdog.hpp"
#include "lib/bridge/descriptor.hpp"
#include "lib/core/lifetime.hpp"

namespace udtcat::bridge {

/// A variable of a child's environment, which replaces ours of that name.
struct EnvironmentVariable {
  std::string name;
  std::optional<std::string> value;  ///< none: it is not set
};

struct ChildRequest {
  std::string program;             ///< a path, or a name that is looked for in $PATH
  std::vector<std::string> words;  ///< argv, its first word included
  bool pipe_stdout = true;         ///< false: the child writes to our stdout
  bool pipe_stderr = true;         ///< false: the child writes to our stderr
  bool own_session = true;         ///< it leads a process group without our terminal, with a ChildWatchdog beside it
  bool ends_with_us = false;       ///< it gets SIGTERM when we die, however
  std::optional<std::uint64_t> core_limit_bytes;  ///< of its core dumps; none: ours
  std::vector<EnvironmentVariable> variables{};   ///< the others of its environment are ours
};

/// How a child ended: by itself, with a status, or by a signal.
struct ChildExit {
  int status = 0;
  int signal = 0;  ///< 0: it exited with `status`
  bool dumped_core = false;
};

struct ChildPipes {
  Descriptor input;   ///< leads to its stdin
  Descriptor output;  ///< comes from its stdout; not open where that is ours
  Descriptor errors;  ///< likewise of its stderr
};

/// Replaces this process by the program, which gets none of our threads, of our descriptors beyond stderr, and of our
/// blocked or ignored signals.
/// returns  the errno of a failure; else not at all
[[nodiscard]] int exec_program(const ChildRequest& request);

/// Threads: confined to the io_context thread, where the handler is called, never from inside start().
class ChildProcess {
 public:
  using EndHandler = std::function<void(ChildExit)>;

  /// errors: Errc::local_connect_failed when the program cannot be run; Errc::out_of_resources
  [[nodiscard]] static Result<std::unique_ptr<ChildProcess>> start(boost::asio::io_context& io,
                                                                   const ChildRequest& request, EndHandler on_end);
  /// A child with a watchdog that has not ended is killed, and its group with it; any other goes on by itself.
  ~ChildProcess();

  /// Once: hands the pipes to their user.
  [[nodiscard]] ChildPipes take_pipes() { return std::move(pipes_); }
  /// The input is complete: its stdin ends as soon as our end of that is closed. Of a child with a watchdog nothing
  /// else ends the stdin while it lives and our signals reach it, not even our death.
  void end_input();

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const std::optional<ChildExit>& end() const { return end_; }
  /// `handler` is called after the one given to start(); at once where it has ended. One at a time.
  void when_ended(std::function<void()> handler);
  /// To its whole process group where it leads one. Nothing after its end.
  void signal(int number) const;
  /// Whether the group that it leads has a member, itself included.
  [[nodiscard]] bool group_lives() const;
  /// Whether all members that the group has run as another user, whom no signal of ours reaches.
  [[nodiscard]] bool group_is_out_of_reach() const;
  /// Whether a member lives although it was sent SIGKILL: out of our reach, or not dead yet. Reads all of /proc.
  [[nodiscard]] bool group_outlives_a_kill() const;
  /// Whether its stdin is not complete, and a member of the group could still read it.
  [[nodiscard]] bool incomplete_input_has_reader() const;
  /// To every member of the group that it leads, also after its own end.
  void signal_group(int number) const;

 private:
  ChildProcess(boost::asio::io_context& io, bool leads_group, EndHandler on_end);
  void wait_for_end();
  void reap();
  void watch_group();

  const bool leads_group_;
  boost::asio::io_context& io_;
  EndHandler on_end_;
  std::function<void()> when_ended_;
  boost::asio::signal_set child_ends_;  // before the child, so that no end is missed
  pid_t pid_ = -1;
  std::optional<ChildExit> end_;
  bool group_is_gone_ = false;
  ChildPipes pipes_;
  std::unique_ptr<ChildWatchdog> watchdog_;
  boost::asio::steady_timer group_timer_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::bridge
