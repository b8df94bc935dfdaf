// SPDX-License-Identifier: Apache-2.0
/// The end of a transfer that dials the other one, or has ssh start it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <udtcat/connection.hpp>
#include <udtcat/peering.hpp>
#include <udtcat/result.hpp>

#include "ssh/ssh_dial.hpp"
#include "ssh/ssh_path.hpp"
#include "tool/run/session_run.hpp"
#include "trees/command/relayed_transfer.hpp"
#include "trees/command/transfer_session.hpp"
#include "trees/command/tree_options.hpp"

namespace udtcat::trees {

///   dialling ─────────────────────────────────► session ──► over
///   starting (ssh) ── a session ──► session, with ssh as one more path ──► over, once ssh is gone
///      └── no answer on UDP ──► relayed over ssh ──► over
///
/// Threads: confined to the main thread.
class Connector {
 public:
  /// `run` and `options` must outlive this. Its end is that of `run`.
  Connector(tool::SessionRun& run, const TreeOptions& options) : run_(run), options_(options) {}

  /// errors: Errc::cannot_resolve
  [[nodiscard]] Status dial(std::optional<Credentials> credentials);
  /// core_limit_bytes   what ssh may dump
  /// errors: those of SshDial::start()
  [[nodiscard]] Status start_by_ssh(std::uint64_t core_limit_bytes);
  /// Names that are at the receiver so far.
  [[nodiscard]] std::uint64_t entries() const;

 private:
  void begin_session(std::unique_ptr<Connection> connection);
  void on_over();
  void relay(Error why);
  void show_relayed();
  void finish_relayed_if_over();
  void interrupt(const Error& why);

  tool::SessionRun& run_;
  const TreeOptions& options_;
  std::optional<ssh::SshDial> dial_;  // none: a listener is dialled
  std::unique_ptr<Dialer> dialer_;
  std::optional<TransferSession> session_;
  std::optional<ssh::SshPath> ssh_path_;
  std::optional<RelayedTransfer> relayed_;  // over ssh, as there is no session
  std::optional<int> ssh_status_;           // once ssh has ended that has relayed it
};

}  // namespace udtcat::trees
