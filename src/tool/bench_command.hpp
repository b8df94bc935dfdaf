// SPDX-License-Identifier: Apache-2.0
/// udtcat bench: measures the path to a listener, and the two ends.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <udtcat/connection.hpp>

#include "tool/bench_meter.hpp"
#include "tool/command.hpp"
#include "tool/options.hpp"
#include "tool/session_run.hpp"

namespace udtcat::tool {

/// The wishes for a bench, wherever its other end is.
struct BenchWishes {
  std::chrono::seconds each_way{5};
  bool json = false;
};

void add_bench_options(CommandLine& line, BenchWishes& wishes);  ///< --seconds, --json

/// Measures over `connection`, prints what it found, also where it was cut off, and finishes `run`. Keep it until then.
[[nodiscard]] std::unique_ptr<BenchMeter> measure(SessionRun& run, std::unique_ptr<Connection> connection,
                                                  const BenchWishes& wishes);

/// Of a listener that is dialled.
[[nodiscard]] ExitStatus bench_command(const Options& options, const BenchWishes& wishes, FoundCredentials found,
                                       Console& console);

}  // namespace udtcat::tool
