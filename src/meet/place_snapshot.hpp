// SPDX-License-Identifier: Apache-2.0
/// A place as `udtcat status` and statistics show it.
#pragma once

#include <udtcat/stats.hpp>

#include "meet/place.hpp"
#include "tool/status/snapshot.hpp"

namespace udtcat::meet {

/// The bytes that it has relayed are those that it has sent.
[[nodiscard]] ConnectionStats relayed_stats(const Place& place);
/// Its sessions, registrations and pairs.
void add_to(tool::ProcessSnapshot& snapshot, Place& place);

}  // namespace udtcat::meet
