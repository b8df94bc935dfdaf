// SPDX-License-Identifier: Apache-2.0
#include "files/stamp.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include <linux/magic.h>
#include <sys/stat.h>
#include <time.h>

#include "files/accounts.hpp"
#include "lib/core/byte_packing.hpp"

namespace udtcat::files {

namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr std::int64_t kLatelyBySeconds = 2'000'000'000;  // spec: vfat: times of two seconds

// Not in linux/magic.h.
constexpr std::uint64_t kZfsMagic = 0x2FC12FC1;       // spec: OpenZFS, ZFS_SUPER_MAGIC
constexpr std::uint64_t kBcachefsMagic = 0xCA451A4E;  // spec: bcachefs, BCACHEFS_STATFS_MAGIC
/// They change st_ctim with each change, and no user can set it.
constexpr std::array<std::uint64_t, 7> kTellingSystems{
    EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, TMPFS_MAGIC, kZfsMagic, F2FS_SUPER_MAGIC, kBcachefsMagic};

std::int64_t nanoseconds_of(const timespec& time) { return time.tv_sec * kNanosecondsPerSecond + time.tv_nsec; }

std::int64_t nanoseconds_now() {
  timespec now{};
  std::ignore = ::clock_gettime(CLOCK_REALTIME, &now);  // fails for no valid argument
  return nanoseconds_of(now);
}

}  // namespace

std::optional<Stamp> stamp_of(const FileLocation& location, const struct stat& status) {
  const std::int64_t state_changed = nanoseconds_of(status.st_ctim);
  const bool by_seconds = status.st_ctim.tv_nsec == 0 && status.st_mtim.tv_nsec == 0;
  const auto lately = by_seconds ? kLatelyBySeconds : std::chrono::nanoseconds(kLately).count();
  if (nanoseconds_now() - state_changed < lately) return std::nullopt;
  const auto system = location.file_system_of(status);
  if (!system || std::ranges::find(kTellingSystems, system->type) == kTellingSystems.end()) return std::nullopt;
  std::vector<std::byte> parts;
  core::ByteWriter writer(parts);
  for (const std::uint64_t part :
       {this_machine(), system->id, std::uint64_t{status.st_dev}, std::uint64_t{status.st_ino},
        static_cast<std::uint64_t>(status.st_size), static_cast<std::uint64_t>(nanoseconds_of(status.st_mtim)),
        static_cast<std::uint64_t>(state_changed)})
    writer.number(part);
  return short_digest_of({parts});
}

bool is_same_file(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

bool is_same_state(const struct stat& one, const struct stat& other) {
  return is_same_file(one, other) && one.st_size == other.st_size &&
         nanoseconds_of(one.st_mtim) == nanoseconds_of(other.st_mtim) &&
         nanoseconds_of(one.st_ctim) == nanoseconds_of(other.st_ctim);
}

}  // namespace udtcat::files
