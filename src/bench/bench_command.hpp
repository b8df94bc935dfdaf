// SPDX-License-Identifier: Apache-2.0
/// udtcat bench: measures the path to a listener, and the two ends.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <udtcat/connection.hpp>

#include "bench/bench_meter.hpp"
#include "tool/cli/options.hpp"
#include "tool/program/command.hpp"
#include "tool/run/session_run.hpp"

namespace udtcat::bench {

/// The wishes for a bench, wherever its other end is.
struct BenchSettings {
  std::chrono::seconds each_way{5};
  bool json = false;
};

void add_bench_options(tool::CommandLine& line, BenchSettings& settings);  ///< --seconds, --json

/// Measures over `connection`, prints what it found, also where it was cut off, and finishes `run`. Keep it until then.
[[nodiscard]] std::unique_ptr<BenchMeter> measure(tool::SessionRun& run, std::unique_ptr<Connection> connection,
                                                  const BenchSettings& settings);

/// Of a listener that is dialled.
[[nodiscard]] tool::ExitStatus bench_command(const tool::Options& options, const BenchSettings& settings,
                                             tool::FoundCredentials found, tool::Console& console);

}  // namespace udtcat::bench
