// SPDX-License-Identifier: Apache-2.0
/// The loss above which a limit, as of a policer, is likelier than random loss.
#pragma once

namespace udtcat::core {

/// Share of the packets.
inline constexpr double kMaxRandomLoss = 0.3;  // guess: links that lose more are rarer than limits that do

}  // namespace udtcat::core
