// SPDX-License-Identifier: Apache-2.0
/// Reads a file chunk by chunk; holes are passed over without being read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <udtcat/result.hpp>

#include "lib/bridge/descriptor.hpp"
#include "trees/disk/sparse.hpp"
#include "trees/disk/tree_hash.hpp"

namespace udtcat::trees {

/// A chunk as it was read. `content` is valid until the next one is, or until its memory is taken.
struct Chunk {
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;             ///< kChunkBytes, but in the last one
  std::span<const std::byte> content;  ///< empty: a hole, which fills a whole chunk

  [[nodiscard]] bool is_hole() const { return content.empty(); }
};

[[nodiscard]] files::Digest hash_of(const Chunk& chunk);

/// Waits for the disk.
/// Threads: unsynchronised.
class ChunkReader {
 public:
  /// bytes    of the file
  /// memory   that next() reads into; between two calls its owner may take it, and leave other memory there
  /// shown    the file's name in errors
  /// `file`, `memory` and `shown` outlive this.
  ChunkReader(const bridge::Descriptor& file, std::uint64_t bytes, std::vector<std::byte>& memory,
              const std::string& shown)
      : file_(file), bytes_(bytes), memory_(memory), shown_(shown), map_(file, bytes) {}

  /// Where the next one ends; the end of the file when there is none.
  [[nodiscard]] std::uint64_t next_end() const { return range_of_chunks(bytes_, next_).end; }
  /// None: that was the last.
  /// errors: Errc::local_read_failed, also where the file ends within it, or goes on behind the last
  [[nodiscard]] Result<std::optional<Chunk>> next();

 private:
  [[nodiscard]] Status check_end() const;

  const bridge::Descriptor& file_;
  const std::uint64_t bytes_;
  std::vector<std::byte>& memory_;
  const std::string& shown_;
  SparseMap map_;
  std::uint64_t next_ = 0;
};

}  // namespace udtcat::trees
