// SPDX-License-Identifier: Apache-2.0
/// The end of a transfer that dials the other one.
#pragma once

#include <memory>
#include <optional>

#include <udtcat/connection.hpp>
#include <udtcat/peering.hpp>
#include <udtcat/result.hpp>

#include "tool/session_run.hpp"
#include "trees/command/transfer_session.hpp"
#include "trees/command/tree_options.hpp"

namespace udtcat::trees {

/// Threads: confined to the main thread.
class Connector {
 public:
  /// `run` and `options` must outlive this. Its end is that of `run`.
  Connector(tool::SessionRun& run, const TreeOptions& options) : run_(run), options_(options) {}

  /// errors: Errc::cannot_resolve
  [[nodiscard]] Status dial(std::optional<Credentials> credentials);

 private:
  void begin_session(std::unique_ptr<Connection> connection);

  tool::SessionRun& run_;
  const TreeOptions& options_;
  std::unique_ptr<Dialer> dialer_;
  std::optional<TransferSession> session_;
};

}  // namespace udtcat::trees
