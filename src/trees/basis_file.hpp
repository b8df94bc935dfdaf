// SPDX-License-Identifier: Apache-2.0
/// Basis files, as rsync calls them: what the receiver has that may share chunks with a file that is to come.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <sys/stat.h>

#include <udtcat/result.hpp>

#include "files/sha256.hpp"
#include "lib/bridge/descriptor.hpp"
#include "trees/destination.hpp"

namespace udtcat::trees {

/// The hashes of a file's chunks, in order; those that are equal and follow each other cost one.
/// Threads: unsynchronised.
class ChunkHashes {
 public:
  void add(const files::Digest& chunk, std::uint64_t count = 1) {
    if (runs_.empty() || runs_.back().digest != chunk) runs_.push_back({chunk, chunks_});
    chunks_ += count;
  }
  [[nodiscard]] std::uint64_t chunks() const { return chunks_; }
  /// Runs of equal chunks, each of which takes memory.
  [[nodiscard]] std::size_t runs() const { return runs_.size(); }
  /// A run of equal chunks, from one of them on.
  struct Equal {
    files::Digest digest;
    std::uint64_t chunks;
  };
  /// number   of a chunk, below chunks()
  [[nodiscard]] Equal run_at(std::uint64_t number) const {
    const auto next = std::ranges::upper_bound(runs_, number, {}, &Run::first);
    return {std::prev(next)->digest, (next == runs_.end() ? chunks_ : next->first) - number};
  }

 private:
  struct Run {
    files::Digest digest;
    std::uint64_t first;  // of its chunks
  };
  std::vector<Run> runs_;
  std::uint64_t chunks_ = 0;
};

struct BasisFile {
  bool is_part = false;                     ///< an earlier transfer has left it; else the file that has the name
  struct stat status {};                    ///< when it was looked at
  ChunkHashes chunks;                       ///< as the sender was told
  bool times_tell = false;                  ///< each change of its content since the hashing began shows in its times
  std::optional<NameError> why_it_stays{};  ///< no other file can take its name; none: one can
};

/// A part can be written, too.  path   of the entry
/// errors: Errc::local_read_failed, Errc::local_write_failed
[[nodiscard]] NameResult<bridge::Descriptor> open_basis(Destination& destination, const std::string& path,
                                                        const BasisFile& basis);

}  // namespace udtcat::trees
