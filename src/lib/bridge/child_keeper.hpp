/// A process beside a command, so that the command does not take our sudden death for the end of its input.
#pragma once

#include <memory>
#include <utility>

#include <sys/types.h>

#include <udtcat/result.hpp>

#include "lib/bridge/descriptor.hpp"

namespace udtcat::bridge {

/// A small process beside a command: it holds the writing end of the command's stdin, too, and when we die, in whatever
/// way, it kills the command's process group before it lets go of that. The system's own order would be the other one:
/// it closes what a dead process had open before it signals its children (PR_SET_PDEATHSIG), and only its children.
/// It runs /bin/sh and not a copy of us, which would keep our keys and twice our memory.
/// Threads: unsynchronised.
class ChildKeeper {
 public:
  /// input   the writing end of the command's stdin
  /// errors: Errc::local_connect_failed, Errc::out_of_resources
  [[nodiscard]] static Result<std::unique_ptr<ChildKeeper>> start(const Descriptor& input);

  ChildKeeper(const ChildKeeper&) = delete;
  ChildKeeper& operator=(const ChildKeeper&) = delete;
  /// Leaves the group to itself; its stdin has ended after that.
  ~ChildKeeper();

  /// Takes the process group of the caller into keeping: between the fork() and the exec() of its leader.
  void keep_my_group() const;
  /// All has come: the command's stdin ends as soon as we have closed our end.
  void end_input();
  /// Whether the end of the stdin has not come, and somebody could still read it.
  [[nodiscard]] bool input_is_cut_for_somebody() const;

 private:
  ChildKeeper(Descriptor input, Descriptor line, pid_t pid)
      : input_(std::move(input)), line_(std::move(line)), pid_(pid) {}

  Descriptor input_;
  Descriptor line_;  // ours alone, but between a fork() and its exec(): it ends when we die
  const pid_t pid_;
};

}  // namespace udtcat::bridge
