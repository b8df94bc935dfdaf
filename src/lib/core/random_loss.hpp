// SPDX-License-Identifier: Apache-2.0
/// The loss beyond which a limit is likelier than chance.
#pragma once

namespace udtcat::core {

/// Share of the packets.
inline constexpr double kMaxRandomLoss = 0.3;  // guess: links that lose more are rarer than limits that do

}  // namespace udtcat::core
