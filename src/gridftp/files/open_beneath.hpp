/// Opening files below a directory, and nowhere else.
#pragma once

#include <string>

#include "lib/bridge/descriptor.hpp"

namespace udtcat::gridftp {

// The platform's part: open_beneath_linux.cpp, open_beneath_default.cpp.

/// As open(2) where `root` is the root: neither "..", nor "/", nor a symbolic link leads out of it.
/// returns  not open, and errno says why: ENOSYS where the platform cannot do that
[[nodiscard]] bridge::Descriptor open_beneath(int root, const std::string& path, int flags);

}  // namespace udtcat::gridftp
