// SPDX-License-Identifier: Apache-2.0
/// Copies of optional secrets. A secret is copied by its duplicate() only.
#pragma once

#include <optional>

namespace udtcat::core {

/// A copy of the value of `one`, an optional or a pointer; none where it has none.
template <typename Maybe>
[[nodiscard]] auto duplicate(const Maybe& one) {
  return one ? std::optional(one->duplicate()) : std::nullopt;
}

}  // namespace udtcat::core
