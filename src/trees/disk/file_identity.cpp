// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/file_identity.hpp"

#include <chrono>

#include "lib/core/try.hpp"
#include "trees/disk/fingerprint.hpp"

namespace udtcat::trees {

namespace {

constexpr std::int64_t kNanosecondsOfSecond = 1'000'000'000;

template <typename Time>
std::int64_t nanoseconds_from(const Time& time) {
  return time.tv_sec * kNanosecondsOfSecond + time.tv_nsec;
}

std::int64_t now_in_nanoseconds() {
  return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

Result<std::optional<FileIdentity>> identity_of(const files::FileLocation& location) {
  UDTCAT_TRY(const auto status, location.look());
  if (!status) return std::nullopt;
  FileIdentity identity{.device = status->st_dev,
                        .inode = status->st_ino,
                        .size_bytes = static_cast<std::uint64_t>(status->st_size),
                        .changed = nanoseconds_from(status->st_mtim),
                        .state_changed = nanoseconds_from(status->st_ctim)};
  // A filter of a container may refuse statx(2) alone; and the name may have another file by now.
  const auto more = location.look_by(STATX_INO | STATX_BTIME);
  if (more && (more->stx_mask & STATX_BTIME) != 0 && more->stx_ino == status->st_ino)
    identity.born = nanoseconds_from(more->stx_btime);
  const std::int64_t age = now_in_nanoseconds() - identity.born.value_or(identity.state_changed);
  identity.is_young = age < std::chrono::nanoseconds(kLately).count();
  return identity;
}

bool is_same_identity(const FileIdentity& earlier, const FileIdentity& later) {
  const bool both_are_born = earlier.born && later.born;
  return earlier.device == later.device && earlier.inode == later.inode && earlier.size_bytes == later.size_bytes &&
         earlier.changed == later.changed && (!both_are_born || *earlier.born == *later.born) &&
         ((both_are_born && !earlier.is_young) || earlier.state_changed == later.state_changed);
}

bool is_identity_of(const FileIdentity& identity, const struct stat& status) {
  return identity.device == status.st_dev && identity.inode == status.st_ino &&
         identity.size_bytes == static_cast<std::uint64_t>(status.st_size) &&
         identity.changed == nanoseconds_from(status.st_mtim);
}

}  // namespace udtcat::trees
