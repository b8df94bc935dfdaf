// SPDX-License-Identifier: Apache-2.0
/// The end of transfers that waits for the others.
#pragma once

#include <list>
#include <memory>
#include <optional>

#include <udtcat/connection.hpp>
#include <udtcat/result.hpp>

#include "tool/peer_listener.hpp"
#include "tool/session_run.hpp"
#include "trees/account.hpp"
#include "trees/command/tree_options.hpp"
#include "trees/jobs.hpp"
#include "trees/transfer.hpp"

namespace udtcat::trees {

/// Serves a few transfers at a time, each on threads of its own; more are refused in words.
/// Threads: confined to the main thread.
class TreeListener {
 public:
  /// `run` and `options` must outlive this. Its end is that of `run`.
  TreeListener(tool::SessionRun& run, const TreeOptions& options);
  TreeListener(const TreeListener&) = delete;
  TreeListener& operator=(const TreeListener&) = delete;
  ~TreeListener();

  /// errors: those of PeerListener::start()
  [[nodiscard]] Status start(tool::FoundCredentials found);

 private:
  struct Guest;

  void take(std::unique_ptr<Connection> connection);
  void on_stream(Guest& guest, StreamId id);
  void finish_if_over(Guest& guest);

  tool::SessionRun& run_;
  const TreeOptions& options_;
  Jobs jobs_;
  std::unique_ptr<tool::PeerListener> listener_;
  std::uint64_t last_number_ = 0;
  std::list<Guest> guests_;
};

}  // namespace udtcat::trees
