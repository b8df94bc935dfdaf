// SPDX-License-Identifier: Apache-2.0
#include "files/sparse.hpp"

#include <algorithm>
#include <cerrno>

#include <sys/stat.h>
#include <unistd.h>

namespace udtcat::files {

namespace {

constexpr std::uint64_t kBlockBytes = 512;  // spec: stat(2): st_blocks

/// Blocks of the file's own, of attributes, or beyond its end make this less than it is, and then more is read.
std::uint64_t most_bytes_of_holes(const bridge::Descriptor& file) {
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) return 0;
  const auto size_bytes = static_cast<std::uint64_t>(status.st_size);
  const auto blocks = static_cast<std::uint64_t>(status.st_blocks);
  return blocks >= size_bytes / kBlockBytes + 1 ? 0 : size_bytes - std::min(size_bytes, blocks * kBlockBytes);
}

}  // namespace

bool SparseMap::is_hole(std::uint64_t offset, std::uint64_t bytes) {
  if (offset >= data_end_) {
    const off_t begin = ::lseek(file_.number(), static_cast<off_t>(offset), SEEK_DATA);
    const bool nothing_follows = begin < 0 && errno == ENXIO;
    // Where the system does not say, all is data.
    data_begin_ = begin >= 0 ? static_cast<std::uint64_t>(begin) : nothing_follows ? end_ : offset;
    const off_t end = begin >= 0 ? ::lseek(file_.number(), begin, SEEK_HOLE) : -1;
    data_end_ = end >= 0 ? static_cast<std::uint64_t>(end) : end_;
  }
  if (offset + bytes > data_begin_) return false;
  if (!left_) left_ = most_bytes_of_holes(file_);
  if (bytes > *left_) return false;
  *left_ -= bytes;
  return true;
}

}  // namespace udtcat::files
