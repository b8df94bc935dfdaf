// SPDX-License-Identifier: Apache-2.0
/// `udtcat trees-server`: the far end of a transfer by ssh, whose stream is stdin and stdout.
#pragma once

#include <memory>

#include <udtcat/result.hpp>

#include "tool/command.hpp"

namespace udtcat::trees {

/// errors: Errc::bad_argument
[[nodiscard]] Result<std::unique_ptr<tool::Job>> parse_trees_server(const tool::Words& arguments);

}  // namespace udtcat::trees
