// SPDX-License-Identifier: Apache-2.0
/// Lists of all that is in a tree, with the hashes of the files, so that it can be proved again at any time.
/// spec: docs/spec/manifest.md
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/result.hpp>
#include <udtcat/units.hpp>

#include "files/file_location.hpp"
#include "files/sha256.hpp"
#include "lib/bridge/descriptor.hpp"
#include "trees/disk/manifest_line.hpp"

namespace udtcat::trees {

/// Writes a manifest beside its name as NAME.PID-N.new, which gets its name when it is whole, and is removed otherwise.
/// Every call may wait for the disk. After an error each later call gives the same one.
/// Threads: unsynchronised.
class ManifestWriter {
 public:
  /// errors: Errc::local_write_failed
  [[nodiscard]] static Result<ManifestWriter> create(const files::FileLocation& location);

  /// errors: Errc::local_write_failed; Errc::bad_argument for an entry that is_manifest_entry() refuses
  [[nodiscard]] Status add(const ManifestEntry& entry);
  /// Once. Returns when the manifest is on the disk and at its name.  errors: Errc::local_write_failed
  [[nodiscard]] Status finish();

 private:
  struct State;
  struct Discard {
    void operator()(State* state) const;
  };

  explicit ManifestWriter(std::unique_ptr<State, Discard> state) : state_(std::move(state)) {}

  std::unique_ptr<State, Discard> state_;
};

/// Reads a manifest line by line; its memory does not grow with it. Every call may wait for the disk.
/// All errors but one of open() are Errc::local_read_failed; those of a line name it by its number. After an error each
/// later call gives the same one.
/// Threads: unsynchronised.
class ManifestReader {
 public:
  static constexpr std::size_t kMaxLineBytes = 64 * kKiB;  // spec: docs/spec/manifest.md

  /// Whether it begins as a manifest is known then. A pipe is read, too.
  /// errors: Errc::bad_argument: it cannot be opened
  [[nodiscard]] static Result<ManifestReader> open(const files::FileLocation& location);
  /// Reads from a descriptor whose reads wait.
  [[nodiscard]] static Result<ManifestReader> of(bridge::Descriptor file, std::string shown);

  /// None: the end line was there, and is right. Until then entries may be damaged that have been given.
  [[nodiscard]] Result<std::optional<ManifestEntry>> next();

 private:
  ManifestReader(bridge::Descriptor file, std::string shown) : file_(std::move(file)), shown_(std::move(shown)) {}

  /// Valid until the next call; none: the end of the file.
  [[nodiscard]] Result<std::optional<std::string_view>> next_line();
  [[nodiscard]] Result<std::optional<ManifestEntry>> next_entry();
  [[nodiscard]] Status check_end(std::string_view line);
  [[nodiscard]] tl::unexpected<Error> wrong_line(const std::string& cause) const;

  bridge::Descriptor file_;
  std::string shown_;
  std::vector<char> arrived_;
  std::size_t next_ = 0;    // of arrived_: where the next line begins
  std::size_t filled_ = 0;  // of arrived_
  std::uint64_t line_number_ = 0;
  std::uint64_t entries_ = 0;
  files::Sha256 hash_;  // of the lines so far
  bool is_whole_ = false;
  std::optional<Error> failed_;
};

}  // namespace udtcat::trees
