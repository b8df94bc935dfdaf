// SPDX-License-Identifier: Apache-2.0
/// A manifest of what a transfer has proved.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>

#include <udtcat/result.hpp>

#include "trees/disk/manifest.hpp"
#include "trees/disk/path_store.hpp"
#include "trees/message.hpp"

namespace udtcat::trees {

/// Threads: unsynchronised.
class ManifestLog {
 public:
  /// errors: Errc::local_write_failed
  [[nodiscard]] static Result<ManifestLog> create(const std::string& path);

  /// A later entry may be a hard link to this one, whose number is the highest so far.
  void expect_links_to(EntryId id, const std::string& path) { linkable_.push_back({id, paths_.add(path)}); }
  /// digest   of a file
  [[nodiscard]] Status add(const Entry& entry, const std::optional<files::Digest>& digest);
  /// A name in it could not be had after all: finish() fails.
  void spoil() { is_spoilt_ = true; }
  [[nodiscard]] Status finish();

 private:
  explicit ManifestLog(ManifestWriter writer) : writer_(std::move(writer)) {}

  ManifestWriter writer_;
  bool is_spoilt_ = false;
  /// A file with several names.
  struct Linkable {
    EntryId id;
    PathStore::Number path;
  };
  PathStore paths_;
  std::deque<Linkable> linkable_;  // in the order of their numbers
};

}  // namespace udtcat::trees
