// SPDX-License-Identifier: Apache-2.0
/// The command of this module: meet.
#pragma once

#include "tool/program/command.hpp"

namespace udtcat::meet {

[[nodiscard]] tool::Commands commands();

}  // namespace udtcat::meet
