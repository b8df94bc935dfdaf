#include "lib/connection/places.hpp"

#include <algorithm>

#include "lib/core/prefix_counts.hpp"

namespace udtcat::connection {

std::optional<Places::Id> Places::take(Id id, bool proved, core::Prefix prefix) {
  OldestFirst& alike = proved ? proved_ : strangers_;
  alike.push_back({id, prefix});
  if (alike.size() <= (proved ? kMaxProvedPlaces : kMaxStrangerPlaces)) return std::nullopt;
  const auto leaves = proved ? alike.begin() : greediest();
  const Id gone = leaves->id;
  alike.erase(leaves);
  return gone;
}

void Places::leave(Id id) {
  const auto is_meant = [id](const Holder& each) { return each.id == id; };
  proved_.remove_if(is_meant);
  strangers_.remove_if(is_meant);
}

void Places::clear() {
  proved_.clear();
  strangers_.clear();
}

/// The oldest of the prefix with the most places; of several such prefixes the one that has been here longest.
Places::OldestFirst::iterator Places::greediest() {
  core::PrefixCounts held;
  for (const Holder& each : strangers_) held.add(each.prefix);
  return std::max_element(strangers_.begin(), strangers_.end(),
                          [&](const Holder& a, const Holder& b) { return held.of(a.prefix) < held.of(b.prefix); });
}

}  // namespace udtcat::connection
