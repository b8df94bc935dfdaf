// SPDX-License-Identifier: Apache-2.0
/// The commands of remote commands: rsh, and rsh-server, which ssh starts.
#pragma once

#include "tool/program/command.hpp"

namespace udtcat::rsh {

[[nodiscard]] tool::Commands commands();

}  // namespace udtcat::rsh
