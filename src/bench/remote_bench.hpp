// SPDX-License-Identifier: Apache-2.0
/// A bench whose other end ssh starts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <udtcat/result.hpp>

#include "bench/bench_command.hpp"
#include "ssh/ssh_dial.hpp"
#include "tool/run/session_run.hpp"

namespace udtcat::bench {

/// Threads: confined to the main thread.
class RemoteBench {
 public:
  /// `run` and `options` must outlive this. Its end is that of `run`.
  RemoteBench(tool::SessionRun& run, const ssh::SshDialOptions& options, const BenchSettings& settings,
              std::uint64_t core_limit_bytes);

  /// errors: those of SshDial::start()
  [[nodiscard]] Status start();

 private:
  tool::SessionRun& run_;
  const BenchSettings settings_;
  ssh::SshDial dial_;
  std::unique_ptr<BenchMeter> meter_;
};

}  // namespace udtcat::bench
