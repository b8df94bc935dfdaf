// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/kernel_version.hpp"

#include <cstdio>

#include <sys/utsname.h>

namespace udtcat::trees {

bool is_kernel_since(const KernelVersion& version) {
  static const KernelVersion own = [] {
    utsname system{};
    KernelVersion said;
    const bool is_said =
        ::uname(&system) == 0 && std::sscanf(system.release, "%d.%d", &said.major, &said.minor) == 2;  // NOLINT: as is
    return is_said ? said : KernelVersion();
  }();
  return own >= version;
}

}  // namespace udtcat::trees
