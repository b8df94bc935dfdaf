// SPDX-License-Identifier: Apache-2.0
/// Real processes: started, watched, waited for with a deadline, and never left behind.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "support/descriptor.hpp"

namespace udtcat::test {

struct Command {
  std::vector<std::string> argv;              ///< argv[0] is looked up in PATH and the sbin directories
  std::vector<std::string> environment = {};  ///< "NAME=value", over the test's own; no UDTCAT_ name is inherited
  Descriptor in = open_null();
  Descriptor out = open_null();
  std::filesystem::path working_directory = {};  ///< empty: the test's own
  std::filesystem::path network_namespace = {};  ///< a file under /run/netns; empty: the test's own
};

/// How a process ended.
struct Ending {
  int status = 0;  ///< the exit status as a shell shows it: 128 + signal for a process that was killed
  bool core_dumped = false;
};

/// One child in a session of its own (no terminal to ask), killed with the test. stderr is kept.
/// Threads: confined to the thread that started it.
class Process {
 public:
  explicit Process(Command command);
  Process(Process&&) noexcept;
  Process& operator=(Process&&) = delete;
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }
  void send_signal(int signal) const;
  /// The ending, or nothing if it still runs after `limit`. May be called again.
  [[nodiscard]] std::optional<Ending> wait(std::chrono::milliseconds limit);
  [[nodiscard]] bool running() { return !wait(std::chrono::milliseconds(0)); }
  /// All of stderr up to now.
  [[nodiscard]] std::string errors() const;
  /// As errors(), in lines without their ends.
  [[nodiscard]] std::vector<std::string> error_lines() const;

  /// Of /proc/PID/status, now and at the highest; 0 when the process has ended.
  [[nodiscard]] std::uint64_t resident_bytes() const { return status_field("VmRSS:"); }
  [[nodiscard]] std::uint64_t peak_resident_bytes() const { return status_field("VmHWM:"); }
  /// A file of /proc/PID: "cmdline", "environ".
  [[nodiscard]] std::string proc_file(const std::string& name) const;

 private:
  [[nodiscard]] std::uint64_t status_field(const std::string& field) const;

  pid_t pid_ = -1;
  bool is_udtcat_ = false;
  Descriptor pid_fd_;
  Descriptor errors_;
  std::optional<Ending> ending_;
};

/// Runs a short command to its end. What it writes to stdout and stderr is text.
struct Ran {
  int status = 0;
  std::string output;
  std::string errors;
};
[[nodiscard]] Ran run(Command command, std::chrono::milliseconds limit = std::chrono::seconds(60));

}  // namespace udtcat::test
