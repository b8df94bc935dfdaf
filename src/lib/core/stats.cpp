// SPDX-License-Identifier: Apache-2.0
#include <udtcat/stats.hpp>

#include "lib/core/stats_fields.hpp"

namespace udtcat {

namespace {

/// Where it has not reported in the meantime, its report before the last.
EndStats peer_before(const BothEndsStats& before, const BothEndsStats& now) {
  if (!before.there) return {};
  if (now.there->elapsed > before.there->elapsed) return *before.there;
  return now.there_before.value_or(EndStats{});
}

}  // namespace

BothEndsStats since(const BothEndsStats& before, const BothEndsStats& now) {
  BothEndsStats grown{core::growth(before.here, now.here)};
  if (now.there) grown.there = core::growth(peer_before(before, now), *now.there);
  return grown;
}

ConnectionStats sum(const ConnectionStats& so_far, const ConnectionStats& latest) { return core::sum(so_far, latest); }

}  // namespace udtcat
