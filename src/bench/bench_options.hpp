// SPDX-License-Identifier: Apache-2.0
/// The command line of `udtcat bench`. No input or output here.
#pragma once

#include <string>

#include <udtcat/result.hpp>

#include "bench/bench_command.hpp"
#include "ssh/ssh_dial.hpp"
#include "tool/cli/command_line.hpp"

namespace udtcat::bench {

struct BenchOptions : ssh::SshDialOptions {
  bool help = false;    ///< nothing else then
  bool by_ssh = false;  ///< else a listener waits at `peer`
  BenchSettings settings;
};

/// errors: Errc::bad_argument
[[nodiscard]] Result<BenchOptions> parse_bench_options(const tool::Words& arguments);

[[nodiscard]] tool::DeclaredOptions bench_options_declared();
[[nodiscard]] std::string bench_help_text();

}  // namespace udtcat::bench
