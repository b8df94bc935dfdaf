// SPDX-License-Identifier: Apache-2.0
/// The command line of `udtcat bench`. No input or output here.
#pragma once

#include <string>

#include <udtcat/result.hpp>

#include "rsh/ssh_dial.hpp"
#include "tool/bench_command.hpp"
#include "tool/command_line.hpp"

namespace udtcat::rsh {

struct BenchOptions : SshDialOptions {
  bool help = false;    ///< nothing else then
  bool by_ssh = false;  ///< else a listener waits at `peer`
  tool::BenchWishes wishes;
};

/// errors: Errc::bad_argument
[[nodiscard]] Result<BenchOptions> parse_bench_options(const tool::Words& arguments);

/// For completion.
[[nodiscard]] tool::DeclaredOptions bench_options_declared();
[[nodiscard]] std::string bench_help_text();

}  // namespace udtcat::rsh
