// SPDX-License-Identifier: Apache-2.0
/// Files that may have leaves of one that is wanted.
#pragma once

#include <optional>
#include <string>

#include <sys/stat.h>

#include <udtcat/result.hpp>

#include "lib/bridge/descriptor.hpp"
#include "trees/destination.hpp"
#include "trees/leaf_runs.hpp"

namespace udtcat::trees {

struct Candidate {
  bool is_part = false;   ///< an earlier transfer has left it; else the file that has the name
  struct stat status {};  ///< when it was looked at
  LeafRuns leaves;        ///< that the sender was told of
  /// Its content cannot have changed while it was hashed, nor since, unless its times tell of it.
  bool is_told_by_times = false;
  std::optional<NameError> why_it_stays{};  ///< nothing else can have its name
};

/// A part can be written, too.  path   of the entry
/// errors: Errc::local_read_failed, Errc::local_write_failed
[[nodiscard]] NameResult<bridge::Descriptor> open_candidate(Destination& destination, const std::string& path,
                                                            const Candidate& candidate);

}  // namespace udtcat::trees
