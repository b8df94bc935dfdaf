// SPDX-License-Identifier: Apache-2.0
/// `udtcat trees-server`: the far end of a transfer, started by ssh.
#pragma once

#include <list>
#include <memory>
#include <optional>

#include <udtcat/connection.hpp>
#include <udtcat/result.hpp>

#include "ssh/far_server.hpp"
#include "tool/program/command.hpp"
#include "tool/run/session_run.hpp"
#include "trees/command/relayed_transfer.hpp"
#include "trees/command/transfer_session.hpp"
#include "trees/work.hpp"

namespace udtcat::trees {

/// Serves one transfer of the account: of the peer that opens a stream first, or over ssh's pipes.
/// Threads: confined to the main thread.
class TreesServer {
 public:
  /// `run` and `options` must outlive this. Its end is that of `run`.
  TreesServer(tool::SessionRun& run, const ssh::FarOptions& options);

  /// errors: those of FarServer::start()
  [[nodiscard]] Status start() { return far_.start(); }

 private:
  void take(std::unique_ptr<Connection> connection);
  void on_over(const TransferSession& session);
  void serve_stdio();
  void finish(const Status& result);
  [[nodiscard]] bool abort_all(const Error& why);

  tool::SessionRun& run_;
  const Wishes wishes_;
  std::list<std::unique_ptr<TransferSession>> sessions_;
  ssh::FarServer far_;
  std::unique_ptr<LocalStream> stdio_;
  std::unique_ptr<Tally> tally_;  // of the transfer over ssh
  std::unique_ptr<RelayedTransfer> relayed_;
};

/// errors: Errc::bad_argument
[[nodiscard]] Result<std::unique_ptr<tool::Invocation>> parse_trees_server(const tool::Words& arguments);

}  // namespace udtcat::trees
