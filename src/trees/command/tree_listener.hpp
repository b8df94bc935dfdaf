// SPDX-License-Identifier: Apache-2.0
/// The end of transfers that waits for the others.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include <udtcat/connection.hpp>
#include <udtcat/result.hpp>

#include "tool/peer_listener.hpp"
#include "tool/session_run.hpp"
#include "trees/command/transfer_session.hpp"
#include "trees/command/tree_options.hpp"
#include "trees/transfer_claims.hpp"

namespace udtcat::trees {

/// Serves a few transfers at a time, each on threads of its own; more are refused in words.
/// Threads: confined to the main thread.
class TreeListener {
 public:
  /// `run` and `options` must outlive this. Its end is that of `run`.
  TreeListener(tool::SessionRun& run, const TreeOptions& options) : run_(run), options_(options) {}

  /// A receiver's directory is made.  errors: those of PeerListener::start(), and of the directory
  [[nodiscard]] Status start(tool::FoundCredentials found);

 private:
  struct Guest {
    std::uint64_t number = 0;
    std::string name;
    std::unique_ptr<TransferSession> session{};
  };

  void take(std::unique_ptr<Connection> connection);
  [[nodiscard]] Status work(Wire& wire, Tally& tally, const OtherEnd& other);
  void on_over(const Guest& guest);

  tool::SessionRun& run_;
  const TreeOptions& options_;
  TransferClaims claims_;
  std::unique_ptr<tool::PeerListener> listener_;
  std::uint64_t last_number_ = 0;
  std::list<Guest> guests_;
};

}  // namespace udtcat::trees
