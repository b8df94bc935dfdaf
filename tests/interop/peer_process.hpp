// SPDX-License-Identifier: Apache-2.0
/// A peer that can be stopped and killed: one connection in a process of its own.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <string_view>

#include "support/process.hpp"

namespace udtcat::test::interop {

enum class Who { libudt, ours };

/// The first argument by which the test program knows that it is to be a peer.
inline constexpr std::string_view kBePeer = "--be-peer";
/// The body of that process: `who` connects to 127.0.0.1:`port`, or listens where that is 0, sends `.` once and
/// then waits for the end of stdin. Says its port, and later "connected", each in a line of stdout.
[[nodiscard]] int be_peer(std::string_view who, std::uint16_t port);

class PeerProcess {
 public:
  /// Listens where `port` is 0.
  explicit PeerProcess(Who who, std::uint16_t port = 0);

  /// Where it listens.
  [[nodiscard]] std::uint16_t port() const { return port_; }
  void freeze() const { process_.send_signal(SIGSTOP); }
  void thaw() const { process_.send_signal(SIGCONT); }
  void kill() const { process_.send_signal(SIGKILL); }
  [[nodiscard]] bool running() { return process_.running(); }
  /// A line of its stdout, without the end; empty where none comes within `limit`.
  [[nodiscard]] std::string line(std::chrono::milliseconds limit) const;

 private:
  Pipe to_ = make_pipe();
  Pipe from_ = make_pipe();
  Process process_;
  std::uint16_t port_ = 0;
};

}  // namespace udtcat::test::interop
