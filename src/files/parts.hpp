// SPDX-License-Identifier: Apache-2.0
/// A place beside a tree for files that are not whole yet, where a transfer that was cut finds them again.
/// spec: docs/spec/trees.md §5
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <udtcat/result.hpp>

#include "files/file_location.hpp"
#include "files/file_tree.hpp"
#include "lib/bridge/descriptor.hpp"

namespace udtcat::files {

inline constexpr const char* kPartsName = ".udtcat-parts";  // spec: docs/spec/trees.md §3

/// One transfer's folder in the folder of all, which only this account may write to; locked while this lives.
/// Every call may wait for the disk.
/// Threads: immutable.
class Parts {
 public:
  enum class Held { refuse, wait };  ///< while another process has the transfer under way

  /// job   names the transfer, also one that was cut: digits
  /// errors: Errc::local_write_failed; Errc::out_of_resources: Held::refuse
  [[nodiscard]] static Result<Parts> open(const FileTree& tree, const std::string& job, Held held);

  /// The file that is kept for a path, whole or not, or there at all or not.
  [[nodiscard]] FileLocation of(const std::string& path) const;
  /// Opens it to be read and written; it is made where it is not there.  errors: Errc::local_write_failed
  [[nodiscard]] Result<bridge::Descriptor> take(const std::string& path) const;
  /// Removes this transfer's folder with all that is left in it, and the folder of all where that is empty then.
  void remove() const;
  /// Removes both folders where they are empty.
  void tidy() const;

 private:
  Parts(FileTree tree, std::shared_ptr<const bridge::Descriptor> all, std::shared_ptr<const bridge::Descriptor> own,
        std::string job)
      : tree_(std::move(tree)), all_(std::move(all)), own_(std::move(own)), job_(std::move(job)) {}

  void make_usable(const std::string& path) const;

  FileTree tree_;
  std::shared_ptr<const bridge::Descriptor> all_;
  std::shared_ptr<const bridge::Descriptor> own_;  // holds the lock
  std::string job_;
};

}  // namespace udtcat::files
