// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/chunk_reader.hpp"

#include "files/whole_io.hpp"
#include "lib/core/try.hpp"

namespace udtcat::trees {

files::Digest hash_of(const Chunk& chunk) { return chunk.is_hole() ? hash_of_zeros() : hash_of_leaf(chunk.content); }

Result<std::optional<Chunk>> ChunkReader::next() {
  if (next_ >= chunks_of(bytes_)) {
    UDTCAT_CHECK(check_end());
    return std::nullopt;
  }
  const files::ByteRange range = range_of_chunks(bytes_, next_);
  Chunk chunk{.number = next_, .bytes = range.bytes(), .content = {}};
  if (chunk.bytes < kChunkBytes || !map_.is_hole(range.begin, chunk.bytes)) {
    memory_.resize(chunk.bytes);
    UDTCAT_CHECK(files::read_exactly_at(file_, range.begin, memory_, shown_));
    chunk.content = memory_;
  }
  ++next_;
  return chunk;
}

/// Files of /proc have content and the size 0, and a file system of user space may tell of an old size.
Status ChunkReader::check_end() const {
  std::byte behind{};
  UDTCAT_TRY(const std::size_t got, files::read_whole_at(file_, bytes_, {&behind, 1}, shown_));
  if (got == 0) return {};
  return fail(Errc::local_read_failed, "read " + shown_, "it has more in it than its size tells");
}

}  // namespace udtcat::trees
