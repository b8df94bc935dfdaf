// SPDX-License-Identifier: Apache-2.0
/// The commands of trees: send, receive, verify, and trees-server, which ssh starts.
#pragma once

#include "tool/program/command.hpp"

namespace udtcat::trees {

[[nodiscard]] tool::Commands commands();

// As of Command::parse.
[[nodiscard]] Result<std::unique_ptr<tool::Invocation>> parse_verify(const tool::Words& arguments);
[[nodiscard]] Result<std::unique_ptr<tool::Invocation>> parse_trees_server(const tool::Words& arguments);

}  // namespace udtcat::trees
