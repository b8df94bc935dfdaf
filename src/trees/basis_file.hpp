// SPDX-License-Identifier: Apache-2.0
/// Basis files, as rsync calls them: what the receiver has that may share chunks with a file that is to come.
#pragma once

#include <optional>
#include <string>

#include <sys/stat.h>

#include <udtcat/result.hpp>

#include "lib/bridge/descriptor.hpp"
#include "trees/chunk_hashes.hpp"
#include "trees/destination.hpp"

namespace udtcat::trees {

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
