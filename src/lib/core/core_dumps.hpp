// SPDX-License-Identifier: Apache-2.0
/// Keeps a process's memory out of core dumps and from other processes of its user.
#pragma once

#include <cstdint>

namespace udtcat::core {

/// for_good   lowers the hard limit, too, which cannot be raised again
/// returns    what the soft limit was
std::uint64_t forbid_core_dumps(bool for_good);

/// Undoes forbid_core_dumps(), unless that was for good.
void allow_core_dumps(std::uint64_t limit_bytes);

/// From now on no other process of this user may look into this one.
void forbid_tracing();

}  // namespace udtcat::core
