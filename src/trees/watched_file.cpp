// SPDX-License-Identifier: Apache-2.0
#include "trees/watched_file.hpp"

#include <tuple>
#include <utility>

#include <fcntl.h>

namespace udtcat::trees {

namespace {

/// Zeros, which no file's status is, where fstat(2) fails.
struct stat status_of(const bridge::Descriptor& file) {
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) return {};
  return status;
}

}  // namespace

WatchedFile::WatchedFile(files::FileLocation location, bridge::Descriptor file, const Announced& announced,
                         const Pause& pause)
    : location_(std::move(location)), file_(std::move(file)), writers_(writers_of(file_)) {
  std::ignore = ::posix_fadvise(file_.number(), 0, 0, POSIX_FADV_SEQUENTIAL);  // advice
  const bool is_exposed = writers_ == Writers::none || write_back(file_);
  before_ = status_of(file_);
  if (const auto time = time_until_stable(before_); time > time.zero()) {
    pause(time);
    before_ = status_of(file_);
  }
  is_as_announced_ = is_same_content(before_, announced.status);
  const bool is_known = announced.fingerprint && is_same_state(before_, announced.status);
  tells_ = is_exposed && (is_known || tells_of_changes(location_, before_));
  if (tells_) fingerprint_ = is_known ? announced.fingerprint : fingerprint_of(location_, before_);
}

WatchedFile::Seen WatchedFile::look_again() {
  after_ = status_of(file_);
  if (!is_same_content(before_, after_)) return Seen::other_content;
  if (!keeps_state()) return Seen::unsure;  // the time of the content may have been set back
  if (tells_) return Seen::same;
  const bool has_none = writers_ == Writers::none && writers_of(file_) == Writers::none;
  return has_none ? Seen::same : Seen::unsure;
}

bool WatchedFile::keeps_content() const { return is_same_content(before_, status_of(file_)); }

std::optional<Fingerprint> WatchedFile::fingerprint() const { return keeps_state() ? fingerprint_ : std::nullopt; }

}  // namespace udtcat::trees
