// SPDX-License-Identifier: Apache-2.0
/// The command bench.
#pragma once

#include "tool/program/command.hpp"

namespace udtcat::bench {

[[nodiscard]] tool::Commands commands();

}  // namespace udtcat::bench
