// SPDX-License-Identifier: Apache-2.0
/// The far end of one remote command, started by ssh: it waits for a peer that proves the key, or for ssh to say that
/// UDP does not work.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include <udtcat/peering.hpp>

#include "rsh/datagram_pipe.hpp"
#include "rsh/far_end.hpp"
#include "rsh/ssh_input.hpp"
#include "tool/bench_service.hpp"
#include "tool/options.hpp"
#include "tool/session_run.hpp"

namespace udtcat::rsh {

/// UDP ports, from the first to the last.
struct PortRange {
  std::uint16_t first = 9000;
  std::uint16_t last = 9100;
};
[[nodiscard]] std::string to_string(const PortRange& range);

/// Options::accept_timeout says how long it waits.
struct RshServerOptions : tool::Options {
  PortRange ports;
  bool bench = false;  ///< no command: the near end measures
};

/// Runs one command, or serves one bench.
///
///   waiting ── first request of a peer that proved the key ──► serving ── over ──► the end
///      ├── a request by ssh ──► the end; the caller becomes the command: fallback()
///      └── ssh's end, or no peer in time ──► the end
///   waiting, serving ── CARRY DATAGRAMS by ssh ──► the same, and ssh is one more path
///
/// Threads: confined to the main thread.
class RshServer {
 public:
  /// core_limit_bytes   what the command may dump
  /// `run` and `options` must outlive this. Its end is that of `run`.
  RshServer(tool::SessionRun& run, const RshServerOptions& options, std::uint64_t core_limit_bytes);

  /// Greets the near end on stdout.  errors: those of listen() but for Errc::cannot_bind, and Errc::local_write_failed
  [[nodiscard]] Status start();
  /// The request that came by ssh, once SessionRun::run() has returned.
  [[nodiscard]] const std::optional<ControlMessage>& fallback() const { return fallback_; }

 private:
  [[nodiscard]] Status bind(const Key& key);
  void take(std::unique_ptr<Connection> connection);
  void choose(const Connection& connection);
  void on_over(const FarEnd& end, const Status& status);
  void on_ssh_message(const ControlMessage& message);
  void carry_datagrams();
  void on_ssh_end();

  tool::SessionRun& run_;
  const RshServerOptions& options_;
  const std::uint64_t core_limit_bytes_;
  boost::asio::steady_timer patience_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<SshInput> ssh_input_;
  std::unique_ptr<LocalStream> ssh_pipes_;  // while they carry datagrams
  FarEnds ends_;
  tool::BenchService bench_;            // if it is one
  const Connection* chosen_ = nullptr;  // of one of these, or none yet
  Connection* last_ = nullptr;          // that proved the key for a command
  std::shared_ptr<DatagramPipe> tunnel_;
  std::optional<ControlMessage> fallback_;
};

}  // namespace udtcat::rsh
