// SPDX-License-Identifier: Apache-2.0
/// Files that say which programs run, or who may come in: only their user, or root, may have written them.
#pragma once

#include <string>

#include <udtcat/result.hpp>

namespace udtcat::tool {

/// The text of a regular file of this user or root that nobody else can write to.
/// errors: Errc::bad_argument, naming the file and what to do
[[nodiscard]] Result<std::string> read_trusted_file(const std::string& path);

}  // namespace udtcat::tool
