// SPDX-License-Identifier: Apache-2.0
/// A program that is started at one end of the link.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <udtcat/result.hpp>

#include "wan/descriptor.hpp"
#include "wan/network_namespace.hpp"

namespace udtcat::wan {

/// Is ended with the lab, however the lab ends. Threads: unsynchronised.
class Child {
 public:
  /// argv          the program and its arguments; looked for in PATH
  /// environment   "NAME=value", on top of the caller's
  [[nodiscard]] static Result<Child> start(const NetworkNamespace& netns, const std::vector<std::string>& argv,
                                           const std::vector<std::string>& environment);

  /// Becomes readable when the program has ended.
  [[nodiscard]] int fd() const { return process_.fd(); }
  /// Its exit status as a shell gives it; none while it runs.
  [[nodiscard]] std::optional<int> status();

 private:
  Child(pid_t pid, Descriptor process) : pid_(pid), process_(std::move(process)) {}

  pid_t pid_;
  Descriptor process_;
  std::optional<int> status_;
};

/// Becomes the program; returns only if that fails.
[[nodiscard]] Error exec_program(const std::vector<std::string>& argv);

}  // namespace udtcat::wan
