// SPDX-License-Identifier: Apache-2.0
/// The receiver's directory: names are made and replaced there, never outside, and never half.
/// spec: docs/spec/trees.md §5
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include <sys/stat.h>

#include <udtcat/result.hpp>

#include "files/attributes.hpp"
#include "files/file_tree.hpp"
#include "files/parts.hpp"
#include "trees/message.hpp"

namespace udtcat::trees {

/// The room that a peer may fill.
/// Threads: internally synchronised.
class Limit {
 public:
  static constexpr std::uint64_t kNameBytes = 4'096;  // guess: a name, and the inode behind it

  /// bytes   none: as much as the disk has
  explicit Limit(std::optional<std::uint64_t> bytes) : bytes_(bytes) {}

  /// path   for the error.  errors: Errc::stream_refused: it would be more than the limit
  [[nodiscard]] Status charge(std::uint64_t bytes, const std::string& path);

 private:
  const std::optional<std::uint64_t> bytes_;
  std::atomic<std::uint64_t> charged_{0};
};

/// An error of one name, as opposed to those of the transfer.
[[nodiscard]] inline bool is_of_name(const Error& error) {
  return error.code == Errc::local_write_failed || error.code == Errc::local_read_failed;
}

/// Every call may wait for the disk.
/// Errors: Errc::local_write_failed and Errc::local_read_failed, of one name; those of Limit, of the transfer.
/// Threads: unsynchronised; each thread has one of its own.
class Destination {
 public:
  Destination(files::FileTree tree, files::Parts parts, Limit& limit, bool keeps_owners)
      : cursor_(std::move(tree)), parts_(std::move(parts)), limit_(limit), keeps_owners_(keeps_owners) {}

  [[nodiscard]] const files::FileTree& tree() const { return cursor_.tree(); }
  [[nodiscard]] const files::Parts& parts() const { return parts_; }
  [[nodiscard]] Limit& limit() { return limit_; }
  /// A name is going to be made, with its attributes.  errors: those of Limit::charge()
  [[nodiscard]] Status charge_name(const Entry& entry);
  [[nodiscard]] Result<files::FileLocation> locate(const std::string& path);
  /// None: nothing is there.
  [[nodiscard]] Result<std::optional<struct stat>> look(const std::string& path);

  /// Until it has its attributes only this account can use it.
  [[nodiscard]] Status make_directory(const Entry& entry);
  /// A symbolic link, a FIFO or a device, with its attributes.
  [[nodiscard]] Status make(const Entry& entry);
  /// path   is another name of the file at `of`
  [[nodiscard]] Status make_hard_link(const std::string& path, const std::string& of);
  /// Gives what is at a path, be it so already, the attributes of the entry.
  [[nodiscard]] Status set_attributes(const std::string& path, const files::Attributes& attributes);
  /// The same of what is open.  entry   its path is for messages.  is_new   it was just made
  [[nodiscard]] Status set_attributes_of(const bridge::Descriptor& opened, const Entry& entry, bool is_new) const;
  /// Whether a file has them, but for the extended ones.
  [[nodiscard]] bool has_attributes(const struct stat& status, const files::Attributes& attributes) const {
    return files::has_attributes(status, attributes, keeps_owners_);
  }
  /// Returns when all that was written to its file system is on the disk.
  [[nodiscard]] Status sync() const;
  /// The part gets its name.  returns  its state then
  [[nodiscard]] Result<struct stat> publish(const std::string& path);

 private:
  [[nodiscard]] Result<bool> is_there(const Entry& entry, const files::FileLocation& location);
  [[nodiscard]] Status make_part(const Entry& entry, const files::FileLocation& part) const;

  files::TreeCursor cursor_;
  const files::Parts parts_;
  Limit& limit_;
  const bool keeps_owners_;
};

}  // namespace udtcat::trees
