// SPDX-License-Identifier: Apache-2.0
/// The end of a transfer that dials, or has ssh start the other one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <udtcat/connection.hpp>
#include <udtcat/peering.hpp>
#include <udtcat/result.hpp>

#include "lib/bridge/child_process.hpp"
#include "lib/bridge/relay.hpp"
#include "tool/session_run.hpp"
#include "trees/account.hpp"
#include "trees/command/tree_options.hpp"
#include "trees/transfer.hpp"

namespace udtcat::trees {

/// Threads: confined to the main thread.
class Connector {
 public:
  /// `run` and `options` must outlive this. Its end is that of `run`.
  Connector(tool::SessionRun& run, const TreeOptions& options);
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;
  ~Connector();

  /// errors: Errc::cannot_resolve
  [[nodiscard]] Status dial(std::optional<Credentials> credentials);
  /// `udtcat rsh`, whose login is ssh's, takes the stream to the other end.
  /// core_limit_bytes   what ssh may dump
  /// errors: those of ChildProcess::start() and ChildStream::make()
  [[nodiscard]] Status start_ssh(std::uint64_t core_limit_bytes);

 private:
  void begin();
  void begin_session(std::unique_ptr<Connection> connection);
  void on_worked(const Status& worked);
  void finish_if_over();
  void on_relayed();

  tool::SessionRun& run_;
  const TreeOptions& options_;
  const std::unique_ptr<Account> account_;
  std::unique_ptr<Dialer> dialer_;
  std::unique_ptr<Connection> connection_;
  std::optional<Status> worked_;
  std::optional<StreamOutcome> outcome_;
  std::optional<Status> closed_;
  std::unique_ptr<Transfer> transfer_;  // its stream leads into what stands above
  // By ssh.
  std::optional<bridge::ChildEnd> child_end_;
  std::unique_ptr<bridge::ChildProcess> child_;
  std::unique_ptr<LocalStream> child_stream_;
  std::unique_ptr<LocalStream> wire_stream_;
  std::unique_ptr<bridge::Relay> upwards_;
  std::unique_ptr<bridge::Relay> downwards_;
};

}  // namespace udtcat::trees
