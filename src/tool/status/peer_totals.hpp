// SPDX-License-Identifier: Apache-2.0
/// Sums over all sessions of each peer, by its name, also of those that have gone.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/connection.hpp>

#include "tool/status/snapshot.hpp"

namespace udtcat::tool {

inline constexpr std::size_t kMostPeerTotals = 1000;      // guess: as kMaxShownPeers
inline constexpr std::string_view kOtherPeers = "other";  // spec: docs/spec/metrics.md §3
inline constexpr std::size_t kPeersBesideNamed = 2;       // spec: those without a name, and the others
inline constexpr std::size_t kMaxShownTotals = kMostPeerTotals + kPeersBesideNamed;

/// The names under which things are counted: each of the first kMostPeerTotals its own, the rest together, so that
/// whoever comes under ever new names costs no more. A name is counted as the same for ever.
/// Threads: unsynchronised.
class PeerNames {
 public:
  [[nodiscard]] const std::string& counted_as(const std::string& name);

 private:
  std::set<std::string> names_;
};

/// Peers without a name are counted together.
/// Threads: unsynchronised.
class PeerTotals {
 public:
  /// A session was made.
  void come(const std::string& name);
  void come(const Connection& connection);
  /// A session that came has gone, with these statistics.
  void leave(const std::string& name, const ConnectionStats& stats);
  void leave(Connection& connection);
  /// All that have gone, as one connection that has ended.
  [[nodiscard]] const ConnectionStats& gone() const { return gone_; }
  /// Sets the snapshot's totals: of the sessions that have gone, and of its peers, all of which have come.
  void add_to(ProcessSnapshot& snapshot) const;

 private:
  PeerNames names_;
  std::map<std::string, PeerTotal> totals_;
  ConnectionStats gone_;
};

}  // namespace udtcat::tool
