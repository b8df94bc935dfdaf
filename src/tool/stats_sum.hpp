/// The figures of several connections as those of one.
#pragma once

#include <udtcat/connection.hpp>

namespace udtcat::tool {

/// Counts are added; what is no count is that of `latest`.
[[nodiscard]] ConnectionStats sum(const ConnectionStats& so_far, const ConnectionStats& latest);

}  // namespace udtcat::tool
