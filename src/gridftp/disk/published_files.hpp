// SPDX-License-Identifier: Apache-2.0
/// The files that one transfer has published, so that none replaces another one of them: some file systems treat two
/// names as one, as README and readme.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <sys/types.h>

#include <udtcat/result.hpp>

#include "files/file_location.hpp"

namespace udtcat::gridftp {

/// Every call may wait for the disk: see DiskThreads.
/// Threads: unsynchronised.
class PublishedFiles {
 public:
  /// Of names, beyond which files are not noted.
  static constexpr std::size_t kMaxBytes = 268'435'456;  // spec: docs/spec/gridftp.md §9: as much as a tree has

  /// left   bytes that are left, for several of these; none: kMaxBytes
  explicit PublishedFiles(std::shared_ptr<std::atomic<std::int64_t>> left = nullptr)
      : left_(left ? std::move(left) : std::make_shared<std::atomic<std::int64_t>>(kMaxBytes)) {}
  ~PublishedFiles() { *left_ += static_cast<std::int64_t>(taken_); }
  PublishedFiles(const PublishedFiles&) = delete;
  PublishedFiles& operator=(const PublishedFiles&) = delete;

  /// Fails if the file at `location` was published under another name.  errors: Errc::local_write_failed
  /// name   that the other end has for the file
  [[nodiscard]] Status may_replace(const files::FileLocation& location, const std::string& name) const;
  /// The same by names, where a file system ignores case: the kernel's cache may have an old entry for `location`.
  [[nodiscard]] Status may_stand_beside(const files::FileLocation& location, const std::string& name) const;
  /// A file of that name was published there.
  void note(const files::FileLocation& location, const std::string& name);
  /// The file there may be replaced by any other.
  void forget(const files::FileLocation& location);

 private:
  using File = std::pair<dev_t, ino_t>;
  struct PublishedFile {
    std::int64_t changed;  // nanoseconds since 1970: another file of the same number has another
    std::string name;
  };

  [[nodiscard]] static tl::unexpected<Error> would_be_lost(const files::FileLocation& location,
                                                           const std::string& earlier);

  const std::shared_ptr<std::atomic<std::int64_t>> left_;
  std::size_t taken_ = 0;  // of it
  std::map<File, PublishedFile> published_;
  std::map<std::string, std::string> by_small_letters_;  // names of published_
};

}  // namespace udtcat::gridftp
