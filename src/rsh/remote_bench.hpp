// SPDX-License-Identifier: Apache-2.0
/// A bench whose other end ssh starts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <udtcat/result.hpp>

#include "rsh/ssh_dial.hpp"
#include "tool/bench_command.hpp"
#include "tool/session_run.hpp"

namespace udtcat::rsh {

/// Threads: confined to the main thread.
class RemoteBench {
 public:
  /// `run` and `options` must outlive this. Its end is that of `run`.
  RemoteBench(tool::SessionRun& run, const SshDialOptions& options, const tool::BenchWishes& wishes,
              std::uint64_t core_limit_bytes);

  /// errors: those of SshDial::start()
  [[nodiscard]] Status start();

 private:
  void on_no_far_end(const Error& error, std::optional<int> status);

  tool::SessionRun& run_;
  const tool::BenchWishes wishes_;
  SshDial dial_;
  std::unique_ptr<tool::BenchMeter> meter_;
};

}  // namespace udtcat::rsh
