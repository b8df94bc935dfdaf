// SPDX-License-Identifier: Apache-2.0
/// `udtcat verify`: a directory against a manifest.
#pragma once

#include <memory>

#include <udtcat/result.hpp>

#include "tool/program/command.hpp"

namespace udtcat::trees {

/// errors: Errc::bad_argument
[[nodiscard]] Result<std::unique_ptr<tool::Invocation>> parse_verify(const tool::Words& arguments);

}  // namespace udtcat::trees
