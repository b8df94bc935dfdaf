// SPDX-License-Identifier: Apache-2.0
/// The commands of trees: send, receive, verify, and trees-server, which ssh starts.
#pragma once

#include "tool/program/command.hpp"

namespace udtcat::trees {

[[nodiscard]] tool::Commands commands();

}  // namespace udtcat::trees
