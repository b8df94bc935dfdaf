// SPDX-License-Identifier: Apache-2.0
#include "files/sparse.hpp"

#include <cerrno>

#include <unistd.h>

namespace udtcat::files {

bool SparseMap::is_hole(std::uint64_t offset, std::uint64_t bytes) {
  if (offset >= data_end_) {
    const off_t begin = ::lseek(file_.number(), static_cast<off_t>(offset), SEEK_DATA);
    const bool nothing_follows = begin < 0 && errno == ENXIO;
    // Where the system does not say, all is data.
    data_begin_ = begin >= 0 ? static_cast<std::uint64_t>(begin) : nothing_follows ? end_ : offset;
    const off_t end = begin >= 0 ? ::lseek(file_.number(), begin, SEEK_HOLE) : -1;
    data_end_ = end >= 0 ? static_cast<std::uint64_t>(end) : end_;
  }
  return offset + bytes <= data_begin_;
}

}  // namespace udtcat::files
