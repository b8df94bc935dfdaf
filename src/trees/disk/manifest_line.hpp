// SPDX-License-Identifier: Apache-2.0
/// A line of a manifest: one name of a tree, and what is there.  spec: docs/spec/manifest.md
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <udtcat/result.hpp>

#include "files/sha256.hpp"
#include "trees/disk/attributes.hpp"
#include "trees/disk/entry_kind.hpp"

namespace udtcat::trees {

struct ManifestEntry {
  EntryKind kind = EntryKind::file;
  std::string path{};            ///< as is_entry_path() wants it
  std::uint32_t mode = 0;        ///< none of a link
  FileTime changed{};            ///< none of a hard link
  std::uint64_t size_bytes = 0;  ///< of a file
  files::Digest digest{};        ///< of a file
  std::string target{};          ///< of a symbolic link; of a hard link, the other name
  std::uint32_t major = 0;       ///< of a device
  std::uint32_t minor = 0;       ///< likewise
  friend bool operator==(const ManifestEntry&, const ManifestEntry&) = default;
};

/// Behind the last entry.
struct ManifestEnd {
  std::uint64_t entries = 0;
  files::Digest digest{};  ///< SHA-256 of all lines before
};

/// The line without its end. The entry keeps the limits.
[[nodiscard]] std::string encode_line(const ManifestEntry& entry);
[[nodiscard]] std::string encode_line(const ManifestEnd& end);

/// Whether it can be written: its names and numbers keep their limits.
[[nodiscard]] bool is_manifest_entry(const ManifestEntry& entry);

[[nodiscard]] bool is_end_line(std::string_view line);
/// A name as a manifest has it: in visible characters only.
[[nodiscard]] std::string spelled_out(std::string_view name);
/// Total, and strict: a line that is taken is the one that encode_line() gives.
/// errors: Errc::local_read_failed, with a cause that says what is wrong
[[nodiscard]] Result<ManifestEntry> parse_line(std::string_view line);
[[nodiscard]] Result<ManifestEnd> parse_end_line(std::string_view line);

}  // namespace udtcat::trees
