// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/file_identity.hpp"

#include <chrono>

#include <sys/sysmacros.h>

#include "trees/disk/fingerprint.hpp"

namespace udtcat::trees {

namespace {

constexpr std::int64_t kNanosecondsOfSecond = 1'000'000'000;

std::int64_t nanoseconds_from(const struct statx_timestamp& time) {
  return time.tv_sec * kNanosecondsOfSecond + time.tv_nsec;
}

std::int64_t now_in_nanoseconds() {
  return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

std::optional<FileIdentity> identity_of(const files::FileLocation& location) {
  const auto status = location.look_by(STATX_BASIC_STATS | STATX_BTIME);
  if (!status) return std::nullopt;
  const bool has_birth = (status->stx_mask & STATX_BTIME) != 0;
  const std::int64_t state_changed = nanoseconds_from(status->stx_ctime);
  const std::int64_t born = has_birth ? nanoseconds_from(status->stx_btime) : state_changed;
  return FileIdentity{.device = ::makedev(status->stx_dev_major, status->stx_dev_minor),
                      .inode = status->stx_ino,
                      .size_bytes = status->stx_size,
                      .changed = nanoseconds_from(status->stx_mtime),
                      .born = born,
                      .state_changed = state_changed,
                      .is_young = now_in_nanoseconds() - born < std::chrono::nanoseconds(kLately).count()};
}

bool is_same_identity(const FileIdentity& earlier, const FileIdentity& later) {
  return earlier.device == later.device && earlier.inode == later.inode && earlier.size_bytes == later.size_bytes &&
         earlier.changed == later.changed && earlier.born == later.born &&
         (!earlier.is_young || earlier.state_changed == later.state_changed);
}

bool is_identity_of(const FileIdentity& identity, const struct stat& status) {
  return identity.device == status.st_dev && identity.inode == status.st_ino &&
         identity.size_bytes == static_cast<std::uint64_t>(status.st_size) &&
         identity.changed == status.st_mtim.tv_sec * kNanosecondsOfSecond + status.st_mtim.tv_nsec;
}

}  // namespace udtcat::trees
