// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/handshake_backlog.hpp"

#include <algorithm>

namespace udtcat::connection {

std::optional<HandshakeBacklog::Id> HandshakeBacklog::add(Id id, bool proved, core::Prefix prefix) {
  OldestFirst& alike = proved ? proved_ : unproved_;
  alike.push_back({id, prefix});
  if (alike.size() <= (proved ? kMaxProvedHandshakes : kMaxUnprovedHandshakes)) return std::nullopt;
  const auto oldest = oldest_of_largest_prefix(alike);
  const Id gone = oldest->id;
  alike.erase(oldest);
  return gone;
}

void HandshakeBacklog::remove(Id id) {
  const auto is_meant = [id](const Entry& each) { return each.id == id; };
  proved_.remove_if(is_meant);
  unproved_.remove_if(is_meant);
}

void HandshakeBacklog::clear() {
  proved_.clear();
  unproved_.clear();
}

/// The oldest of the prefix with the most handshakes; of several such prefixes the one that has been here longest.
HandshakeBacklog::OldestFirst::iterator HandshakeBacklog::oldest_of_largest_prefix(OldestFirst& alike) {
  core::PrefixCounts held;
  for (const Entry& each : alike) held.add(each.prefix);
  return std::max_element(alike.begin(), alike.end(),
                          [&](const Entry& a, const Entry& b) { return held.of(a.prefix) < held.of(b.prefix); });
}

}  // namespace udtcat::connection
