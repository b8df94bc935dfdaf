// SPDX-License-Identifier: Apache-2.0
/// The version of the kernel, where it tells of what the kernel does.
#pragma once

#include <compare>

namespace udtcat::trees {

struct KernelVersion {
  int major = 0;
  int minor = 0;
  friend auto operator<=>(const KernelVersion&, const KernelVersion&) = default;
};

/// Whether the kernel is of that version or a later one; false, too, where it does not say.
/// Threads: any.
[[nodiscard]] bool is_kernel_since(const KernelVersion& version);

}  // namespace udtcat::trees
