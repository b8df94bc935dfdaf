// SPDX-License-Identifier: Apache-2.0
/// The far end of one remote command, started by ssh.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <udtcat/peering.hpp>

#include "ssh/far_server.hpp"
#include "tool/run/session_run.hpp"

namespace udtcat::rsh {

/// Runs one command, for the peer that asks first; or, for a request by ssh, gives it to its caller: fallback().
/// Threads: confined to the main thread.
class RshServer {
 public:
  /// core_limit_bytes   what the command may dump
  /// `run` and `options` must outlive this. Its end is that of `run`.
  RshServer(tool::SessionRun& run, const ssh::FarOptions& options, std::uint64_t core_limit_bytes);
  ~RshServer();

  /// errors: those of FarServer::start()
  [[nodiscard]] Status start() { return far_.start(); }
  /// The request that came by ssh, once SessionRun::run() has returned.
  [[nodiscard]] const std::optional<ssh::ControlMessage>& fallback() const { return fallback_; }

 private:
  class FarEnd;

  void take(std::unique_ptr<Connection> connection);
  void on_over(const FarEnd& end, const Status& status);

  tool::SessionRun& run_;
  const std::uint64_t core_limit_bytes_;
  std::vector<std::unique_ptr<FarEnd>> ends_;
  ssh::FarServer far_;
  std::optional<ssh::ControlMessage> fallback_;
};

}  // namespace udtcat::rsh
