// SPDX-License-Identifier: Apache-2.0
/// Proves a tree again by a manifest of it.  spec: docs/spec/manifest.md
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <udtcat/result.hpp>

#include "files/file_tree.hpp"
#include "trees/disk/manifest.hpp"

namespace udtcat::trees {

struct Verification {
  std::uint64_t entries = 0;    ///< of the manifest
  std::uint64_t differing = 0;  ///< of these
  std::uint64_t bytes = 0;      ///< of files that were compared by their hash, holes included
};

/// All are set, and called by the thread of verify().
struct VerifyHandlers {
  /// text   "its mode is 0644, not 0755"; it and the path have bytes of any value
  std::function<void(const std::string& path, const std::string& text)> on_difference;
  /// Called before a file is read, and after each of its chunks.
  std::function<void(const std::string& path, const Verification& so_far)> on_progress;
  std::function<bool()> should_stop;
};

/// Compares each entry with what is at its name. A name that is missing or cannot be read differs, and one that is not
/// in the manifest is passed over. No symbolic link is followed; only files are opened. Waits for the disk.
/// errors: those of ManifestReader, after which nothing is proved; Errc::interrupted
[[nodiscard]] Result<Verification> verify(ManifestReader& manifest, const files::FileTree& tree,
                                          const VerifyHandlers& handlers);

}  // namespace udtcat::trees
