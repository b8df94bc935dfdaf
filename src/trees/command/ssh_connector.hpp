// SPDX-License-Identifier: Apache-2.0
/// The end of a transfer that has ssh start the other one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>

#include "lib/bridge/child_process.hpp"
#include "tool/session_run.hpp"
#include "trees/command/relayed_transfer.hpp"
#include "trees/command/tree_options.hpp"
#include "trees/tally.hpp"

namespace udtcat::trees {

/// The transfer is relayed to `udtcat rsh -s HOST trees`, whose login is ssh's.
/// Threads: confined to the main thread.
class SshConnector {
 public:
  /// `run` and `options` must outlive this. Its end is that of `run`.
  SshConnector(tool::SessionRun& run, const TreeOptions& options);
  SshConnector(const SshConnector&) = delete;
  SshConnector& operator=(const SshConnector&) = delete;

  /// core_limit_bytes   what ssh may dump
  /// errors: those of ChildProcess::start() and ChildStream::make()
  [[nodiscard]] Status start(std::uint64_t core_limit_bytes);

 private:
  void show_progress();
  void finish_if_over();

  tool::SessionRun& run_;
  const TreeOptions& options_;
  const std::unique_ptr<Tally> tally_;
  std::optional<bridge::ChildEnd> child_end_;
  std::unique_ptr<bridge::ChildProcess> child_;
  std::unique_ptr<LocalStream> child_stream_;
  std::optional<Status> worked_;
  std::optional<RelayedTransfer> transfer_;
};

}  // namespace udtcat::trees
