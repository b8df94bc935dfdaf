// SPDX-License-Identifier: Apache-2.0
/// Counts of the transfers that have ended, by peer and direction.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tool/cli/log_event.hpp"
#include "tool/status/peer_totals.hpp"
#include "tool/status/snapshot.hpp"

namespace udtcat::tool {

inline constexpr std::size_t kTransferDirections = 4;  // spec: docs/spec/logs.md §3: sent, received, both, none
inline constexpr std::size_t kMaxTransferTotals = kTransferDirections * kMaxShownTotals;

/// Threads: unsynchronised. No clock: time is a parameter.
class TransferTotals {
 public:
  /// Events of other kinds are passed over.
  void count(const LogEvent& event, std::chrono::system_clock::time_point now);
  [[nodiscard]] std::vector<TransferTotal> totals() const;

 private:
  PeerNames names_;
  std::map<std::pair<std::string, std::string>, TransferTotal> totals_;  // by peer and direction
};

}  // namespace udtcat::tool
