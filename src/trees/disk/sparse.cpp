// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/sparse.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <new>

#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace udtcat::trees {

namespace {

constexpr std::uint64_t kBlockBytes = 512;       // spec: stat(2): st_blocks
constexpr std::size_t kExtentsOfAnAnswer = 256;  // guess: most files have fewer

/// A piece of data.  begin   the end of the file: nothing follows
struct DataPiece {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// The first from an offset on; where the system does not say, or contradicts itself, all is data.
DataPiece data_from(const bridge::Descriptor& file, std::uint64_t offset, std::uint64_t size_bytes) {
  const off_t begin = ::lseek(file.number(), static_cast<off_t>(offset), SEEK_DATA);
  const bool is_last_hole = begin < 0 && errno == ENXIO;
  if (is_last_hole && ::lseek(file.number(), static_cast<off_t>(offset), SEEK_HOLE) == static_cast<off_t>(offset))
    return {size_bytes, size_bytes};
  if (begin < 0) return {offset, size_bytes};
  const off_t end = ::lseek(file.number(), begin, SEEK_HOLE);
  return {static_cast<std::uint64_t>(begin), end >= 0 ? static_cast<std::uint64_t>(end) : size_bytes};
}

std::uint64_t bytes_of_data(const bridge::Descriptor& file, std::uint64_t size_bytes) {
  std::uint64_t bytes = 0;
  for (std::uint64_t at = 0; at < size_bytes;) {
    const DataPiece piece = data_from(file, at, size_bytes);
    const std::uint64_t end = std::min(piece.end, size_bytes);
    if (piece.begin >= size_bytes || end <= at) break;
    bytes += end - std::max(piece.begin, at);
    at = end;
  }
  return bytes;
}

/// The bytes of extents that were written, by ioctl(2).  none: the file system has no such list
///
/// FIEMAP_FLAG_SYNC: an extent whose data is on its way to the disk is told as unwritten.
std::optional<std::uint64_t> bytes_of_extents(const bridge::Descriptor& file, std::uint64_t size_bytes) {
  // SAFETY: the kernel writes a header and as many extents as there is said to be room for.
  alignas(fiemap) std::array<std::byte, sizeof(fiemap) + kExtentsOfAnAnswer * sizeof(fiemap_extent)> memory;  // NOLINT
  std::uint64_t bytes = 0;
  for (std::uint64_t at = 0; at < size_bytes;) {
    auto* answer = new (memory.data()) fiemap{};
    answer->fm_start = at;
    answer->fm_length = size_bytes - at;
    answer->fm_flags = FIEMAP_FLAG_SYNC;
    answer->fm_extent_count = kExtentsOfAnAnswer;
    if (::ioctl(file.number(), FS_IOC_FIEMAP, answer) != 0) return std::nullopt;
    if (answer->fm_mapped_extents == 0) break;
    const auto* extents = std::launder(reinterpret_cast<const fiemap_extent*>(memory.data() + sizeof(fiemap)));
    for (std::uint32_t i = 0; i < answer->fm_mapped_extents; ++i) {
      const std::uint64_t begin = std::max<std::uint64_t>(extents[i].fe_logical, at);
      const std::uint64_t end = std::min<std::uint64_t>(extents[i].fe_logical + extents[i].fe_length, size_bytes);
      if ((extents[i].fe_flags & FIEMAP_EXTENT_UNWRITTEN) == 0 && end > begin) bytes += end - begin;
      if (end <= at || (extents[i].fe_flags & FIEMAP_EXTENT_LAST) != 0) return bytes;
      at = end;
    }
  }
  return bytes;
}

bool are_holes_believable(const bridge::Descriptor& file, std::uint64_t size_bytes) {
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) return false;
  const std::uint64_t found = bytes_of_data(file, size_bytes);
  // The last block is taken whole, though the file ends in it.
  const std::uint64_t block = std::max<std::uint64_t>(static_cast<std::uint64_t>(status.st_blksize), 1);
  const std::uint64_t behind = found > 0 ? (block - size_bytes % block) % block : 0;
  if (static_cast<std::uint64_t>(status.st_blocks) * kBlockBytes <= found + behind) return true;
  const auto written = bytes_of_extents(file, size_bytes);
  return written && *written <= found;
}

}  // namespace

bool SparseMap::is_hole(std::uint64_t offset, std::uint64_t bytes) {
  if (is_believed_ == false) return false;
  if (offset >= data_end_) {
    const DataPiece piece = data_from(file_, offset, end_);
    data_begin_ = piece.begin;
    data_end_ = piece.end;
  }
  if (offset + bytes > data_begin_) return false;
  if (!is_believed_) is_believed_ = are_holes_believable(file_, end_);
  return *is_believed_;
}

}  // namespace udtcat::trees
