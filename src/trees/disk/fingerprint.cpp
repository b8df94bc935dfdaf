// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/fingerprint.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <linux/magic.h>
#include <linux/major.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>

#include "lib/core/byte_order.hpp"
#include "lib/core/byte_packing.hpp"
#include "trees/disk/accounts.hpp"
#include "trees/disk/kernel_version.hpp"

namespace udtcat::trees {

namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr std::int64_t kLatelyBySeconds = 2'000'000'000;  // spec: vfat: times of two seconds

/// They change st_ctim with each change, the first store into a clean page of a mapping included, and no user can set
/// it, and their times are as fine as the kernel can. tmpfs is none of them: stores through mappings change no time
/// there.
constexpr std::array<std::uint64_t, 3> kTellingSystems{EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC};

std::int64_t nanoseconds_of(const timespec& time) { return time.tv_sec * kNanosecondsPerSecond + time.tv_nsec; }

std::int64_t nanoseconds_now() {
  timespec now{};
  std::ignore = ::clock_gettime(CLOCK_REALTIME, &now);  // fails for no valid argument
  return nanoseconds_of(now);
}

/// The clock by which such kernels give files their times.
std::int64_t coarse_nanoseconds() {
  timespec now{};
  std::ignore = ::clock_gettime(CLOCK_REALTIME_COARSE, &now);  // fails for no valid argument
  return nanoseconds_of(now);
}

/// The time after a change in which another one may leave a file's times as they are.
std::int64_t step_of(const struct stat& status) {
  const bool by_seconds = status.st_ctim.tv_nsec == 0 && status.st_mtim.tv_nsec == 0;
  return by_seconds ? kLatelyBySeconds : std::chrono::nanoseconds(kLately).count();
}

bool is_telling(std::uint64_t type) { return std::ranges::find(kTellingSystems, type) != kTellingSystems.end(); }

/// A number that no other boot of a machine has; none: it cannot be read.
std::optional<std::uint64_t> this_boot() {
  static const std::optional<std::uint64_t> boot = []() -> std::optional<std::uint64_t> {
    std::ifstream file("/proc/sys/kernel/random/boot_id");  // spec: random(4)
    std::string text;
    if (!std::getline(file, text) || text.empty()) return std::nullopt;
    return core::load_be<std::uint64_t>(files::digest_of({std::as_bytes(std::span(text))}));
  }();
  return boot;
}

}  // namespace

std::chrono::nanoseconds time_until_stable(const struct stat& status) {
  const std::int64_t age = nanoseconds_now() - nanoseconds_of(status.st_ctim);
  const std::int64_t step = step_of(status);
  return std::chrono::nanoseconds(age < -step || age >= step ? 0 : step - age);
}

bool is_past_step(const struct stat& status) {
  constexpr KernelVersion kFineTimes{6, 13};  // spec: Documentation/filesystems/multigrain-ts.rst
  static const bool is_fine = is_kernel_since(kFineTimes);
  return is_fine || coarse_nanoseconds() > nanoseconds_of(status.st_ctim);
}

bool tells_of_changes(const bridge::Descriptor& directory) {
  struct statfs system {};
  return ::fstatfs(directory.number(), &system) == 0 && is_telling(static_cast<std::uint64_t>(system.f_type));
}

bool tells_of_changes(const files::FileLocation& location, const struct stat& status) {
  const auto system = location.file_system_of(status);
  return system && is_telling(system->type);
}

std::optional<Fingerprint> fingerprint_of(const files::FileLocation& location, const struct stat& status) {
  const std::int64_t state_changed = nanoseconds_of(status.st_ctim);
  if (nanoseconds_now() - state_changed < step_of(status)) return std::nullopt;
  const auto system = location.file_system_of(status);
  if (!system || !is_telling(system->type)) return std::nullopt;
  // An image may be restored, and mounted again, under the same number.
  if (!system->mount.is_unique && major(status.st_dev) == LOOP_MAJOR) return std::nullopt;
  const auto boot = this_boot();
  if (!boot) return std::nullopt;
  std::vector<std::byte> parts;
  core::ByteWriter writer(parts);
  for (const std::uint64_t part :
       {this_machine(), *boot, system->mount.number, system->id, std::uint64_t{status.st_dev},
        std::uint64_t{status.st_ino}, static_cast<std::uint64_t>(status.st_size),
        static_cast<std::uint64_t>(nanoseconds_of(status.st_mtim)), static_cast<std::uint64_t>(state_changed)})
    writer.number(part);
  return files::short_digest_of({parts});
}

bool is_same_content(const struct stat& one, const struct stat& other) {
  return is_same_file(one, other) && one.st_size == other.st_size &&
         nanoseconds_of(one.st_mtim) == nanoseconds_of(other.st_mtim);
}

bool is_same_state(const struct stat& one, const struct stat& other) {
  return is_same_content(one, other) && nanoseconds_of(one.st_ctim) == nanoseconds_of(other.st_ctim);
}

}  // namespace udtcat::trees
