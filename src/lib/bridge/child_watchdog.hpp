// SPDX-License-Identifier: Apache-2.0
/// A process that kills a command when we die, so that our death is not taken for the end of its input.
#pragma once

#include <memory>
#include <utility>

#include <sys/types.h>

#include <udtcat/result.hpp>

#include "lib/bridge/descriptor.hpp"

namespace udtcat::bridge {

/// The process holds the writing end of the command's stdin, too. When we die, in whatever way, it kills the command's
/// process group before it closes that end. The system's own order is the other one: it closes the descriptors of a
/// dead process before it signals its children (PR_SET_PDEATHSIG), and only its children. The process runs /bin/sh,
/// since a copy of us would keep our keys and twice our memory.
/// Threads: unsynchronised.
class ChildWatchdog {
 public:
  /// input   the writing end of the command's stdin
  /// errors: Errc::local_connect_failed, Errc::out_of_resources
  [[nodiscard]] static Result<std::unique_ptr<ChildWatchdog>> start(const Descriptor& input);

  ChildWatchdog(const ChildWatchdog&) = delete;
  ChildWatchdog& operator=(const ChildWatchdog&) = delete;
  /// Ends the process and leaves the group alone, whose stdin ends with that.
  ~ChildWatchdog();

  /// Names the caller's process group to the watchdog: between the fork() and the exec() of the group's leader.
  /// returns  the errno of a failure; else 0
  [[nodiscard]] int watch_my_group() const;
  /// The input is complete: the command's stdin ends as soon as we have closed our end. A watchdog that cannot be told
  /// is ended, which ends the stdin as well.
  void end_input();
  /// Whether the input is not complete, and a process has its reading end open.
  [[nodiscard]] bool incomplete_input_has_reader() const;

 private:
  ChildWatchdog(Descriptor input, Descriptor line, pid_t pid)
      : input_(std::move(input)), line_(std::move(line)), pid_(pid) {}

  Descriptor input_;
  Descriptor line_;  // to the watchdog; no child of ours has it after its exec(), so it closes when we die
  const pid_t pid_;
};

}  // namespace udtcat::bridge
