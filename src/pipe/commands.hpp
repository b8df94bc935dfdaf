// SPDX-License-Identifier: Apache-2.0
/// The commands of this module: the modes of udtcat without a command's word, keygen and status.
#pragma once

#include "tool/program/command.hpp"

namespace udtcat::pipe {

[[nodiscard]] tool::Commands commands();

}  // namespace udtcat::pipe
