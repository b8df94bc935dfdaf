// SPDX-License-Identifier: Apache-2.0
/// The command line of `udtcat bench`. No input or output here.
#pragma once

#include <chrono>
#include <string>

#include <udtcat/result.hpp>

#include "ssh/ssh_dial.hpp"
#include "tool/cli/command_line.hpp"

namespace udtcat::bench {

/// Of a bench, wherever its other end is.
struct BenchSettings {
  std::chrono::seconds each_way{5};
  bool json = false;
};

struct BenchOptions : ssh::SshDialOptions {
  bool by_ssh = false;  ///< else a listener waits at `peer`
  BenchSettings settings;
};

/// errors: Errc::bad_argument
[[nodiscard]] Result<BenchOptions> parse_bench_options(const tool::Words& arguments);

[[nodiscard]] tool::DeclaredOptions bench_options_declared();
[[nodiscard]] std::string bench_help_text();

}  // namespace udtcat::bench
