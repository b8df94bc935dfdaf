// SPDX-License-Identifier: Apache-2.0
#include "tool/status/transfer_totals.hpp"

namespace udtcat::tool {

void TransferTotals::count(const LogEvent& event, std::chrono::system_clock::time_point now) {
  if (event.kind != EventKind::transfer) return;
  const std::string peer = names_.counted_as(event.peer.value_or(""));
  const std::string direction(event.direction.value_or(""));
  TransferTotal& total = totals_[{peer, direction}];
  total.peer = peer;
  total.direction = direction;
  const bool is_complete = event.result == kComplete;
  ++(is_complete ? total.complete : total.failed);
  (is_complete ? total.last_complete : total.last_failed) = now;
  total.bytes += event.bytes_sent + event.bytes_received;
  total.files += event.files.value_or(0);
}

std::vector<TransferTotal> TransferTotals::totals() const {
  std::vector<TransferTotal> all;
  for (const auto& [key, total] : totals_) all.push_back(total);
  return all;
}

}  // namespace udtcat::tool
