// SPDX-License-Identifier: Apache-2.0
#include "trees/basis_file.hpp"

#include <fcntl.h>

#include "lib/core/try.hpp"

namespace udtcat::trees {

NameResult<bridge::Descriptor> open_basis(Destination& destination, const std::string& path, const BasisFile& basis) {
  if (basis.is_part) {
    UDTCAT_TRY(const auto folder, destination.folder_of(path));
    return folder.take(path);
  }
  UDTCAT_TRY(const auto location, destination.locate(path));
  return location.open(O_RDONLY, Errc::local_read_failed);
}

}  // namespace udtcat::trees
