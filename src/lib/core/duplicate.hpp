// SPDX-License-Identifier: Apache-2.0
/// Copies of secrets that may not be there. A secret is copied by its duplicate() only.
#pragma once

#include <optional>

namespace udtcat::core {

/// A copy of what `one`, an optional or a pointer, holds; none where it holds nothing.
template <typename Maybe>
[[nodiscard]] auto duplicate(const Maybe& one) {
  return one ? std::optional(one->duplicate()) : std::nullopt;
}

}  // namespace udtcat::core
