// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/file_system_traits.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "trees/disk/attributes.hpp"
#include "trees/disk/fingerprint.hpp"
#include "trees/disk/kernel_version.hpp"

namespace udtcat::trees {

namespace {

// Not in linux/magic.h, each by its own sources.
constexpr std::uint64_t kExfatMagic = 0x2011BAB0;
constexpr std::uint64_t kNtfs3Magic = 0x7366746E;
constexpr std::uint64_t kBcachefsMagic = 0xCA451A4E;
constexpr std::uint64_t kZfsMagic = 0x2FC12FC1;
/// File systems of this kernel's own, not of other hosts or in user space, which need not hear of syncfs(2).
constexpr std::array<std::uint64_t, 12> kOfThisHost{
    EXT4_SUPER_MAGIC,      XFS_SUPER_MAGIC,   BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC, TMPFS_MAGIC,    RAMFS_MAGIC,
    OVERLAYFS_SUPER_MAGIC, MSDOS_SUPER_MAGIC, kExfatMagic,       kNtfs3Magic,      kBcachefsMagic, kZfsMagic};

// One name of the probe, and what a file system that folds names takes for it: by case, and by composition of a letter.
constexpr const char* kProbeName = "probe-\xC3\xA9";
constexpr const char* kPlainProbeName = "probe";  // where names have other letters only
constexpr std::array<const char*, 3> kFoldedNames{"PROBE-\xC3\x89", "probe-e\xCC\x81", "PROBE"};

constexpr mode_t kProbeMode = 0640;                         // one that no mount gives to all of its files
constexpr FileTime kProbeTime{1'000'000'001, 123'456'789};  // odd in each unit

/// The units of time that a file system may cut to. spec: NTFS 100 ns, microseconds and milliseconds of some in user
/// space, exFAT 10 ms, ext3 a second, vfat two
constexpr std::array<std::int64_t, 7> kTimeUnits{1, 100, 1'000, 1'000'000, 10'000'000, 1'000'000'000, 2'000'000'000};

bridge::Descriptor make_probe(const bridge::Descriptor& directory, const char* name) {
  std::ignore = ::unlinkat(directory.number(), name, 0);  // left by a process that was killed
  return bridge::Descriptor(
      ::openat(directory.number(), name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
}

std::chrono::nanoseconds time_unit_by(const struct stat& status) {
  for (const std::int64_t unit : kTimeUnits)
    if (changed_time_of(status) == cut_to(kProbeTime, std::chrono::nanoseconds(unit)))
      return std::chrono::nanoseconds(unit);
  return std::chrono::nanoseconds(1);
}

/// None: the kernel does not say.
std::optional<std::uint64_t> type_of(const bridge::Descriptor& directory) {
  struct statfs system {};
  if (::fstatfs(directory.number(), &system) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(system.f_type);
}

/// Whether syncfs(2) tells of writes that have failed. That of an overlay does not hear of those of the file system
/// below it, where fsync(2) does.
bool obeys_syncfs(const bridge::Descriptor& directory) {
  constexpr KernelVersion kTellsOfErrors{5, 8};  // spec: syncfs(2)
  return is_of_this_host(directory) && type_of(directory) != OVERLAYFS_SUPER_MAGIC && is_kernel_since(kTellsOfErrors);
}

/// Whether another spelling of the probe's name leads somewhere, where nothing else is; and whether that is the same.
void find_folding(const bridge::Descriptor& directory, const struct stat& probe, FileSystemTraits& traits) {
  for (const char* name : kFoldedNames) {
    struct stat status {};
    if (::fstatat(directory.number(), name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    traits.folds_names = true;
    if (!is_same_file(status, probe)) traits.folds_into_inodes = false;
  }
}

std::string attribute_of(const bridge::Descriptor& directory, const char* name) {
  constexpr std::size_t kMaxBytes = 65'536;  // spec: Linux XATTR_SIZE_MAX
  std::array<char, kMaxBytes> value;         // NOLINT: filled by the next call
  const ssize_t got = ::fgetxattr(directory.number(), name, value.data(), value.size());
  return got < 0 ? std::string() : std::string(value.data(), static_cast<std::size_t>(got));
}

std::uint32_t project_of(const bridge::Descriptor& directory) {
  fsxattr attributes{};
  if (::ioctl(directory.number(), FS_IOC_FSGETXATTR, &attributes) != 0) return 0;
  return (attributes.fsx_xflags & FS_XFLAG_PROJINHERIT) != 0 ? attributes.fsx_projid : 0;
}

}  // namespace

bool is_of_this_host(const bridge::Descriptor& directory) {
  const auto type = type_of(directory);
  return type && std::ranges::find(kOfThisHost, *type) != kOfThisHost.end();
}

FileSystemTraits traits_of(const bridge::Descriptor& directory) {
  FileSystemTraits traits{.tells_of_changes = tells_of_changes(directory),
                          .obeys_syncfs = obeys_syncfs(directory),
                          .writes_by_syncfs = is_of_this_host(directory)};
  const char* name = kProbeName;
  bridge::Descriptor probe = make_probe(directory, name);
  if (!probe.is_open()) probe = make_probe(directory, name = kPlainProbeName);
  struct stat status {};
  if (!probe.is_open()) return traits;
  const std::array<timespec, 2> times{timespec{kProbeTime.seconds, kProbeTime.nanoseconds},
                                      timespec{kProbeTime.seconds, kProbeTime.nanoseconds}};
  const bool has_mode = ::fchmod(probe.number(), kProbeMode) == 0;
  const bool has_time = ::futimens(probe.number(), times.data()) == 0;
  if (::fstat(probe.number(), &status) == 0) {
    if (has_time) traits.time_unit = time_unit_by(status);
    traits.keeps_modes = has_mode && (status.st_mode & kModeBits) == kProbeMode;
    find_folding(directory, status, traits);
  }
  std::ignore = ::unlinkat(directory.number(), name, 0);
  return traits;
}

DirectoryContext directory_context_of(const bridge::Descriptor& directory) {
  DirectoryContext context;
  struct stat status {};
  if (::fstat(directory.number(), &status) == 0) {
    context.device = status.st_dev;
    if ((status.st_mode & S_ISGID) != 0) context.group = status.st_gid;
  }
  context.mount = files::mount_of(directory);
  // The rest can be asked of what is open for reading alone.
  const bridge::Descriptor own(::openat(directory.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!own.is_open()) return context;
  context.project = project_of(own);
  context.default_access = attribute_of(own, "system.posix_acl_default");  // spec: acl(5)
  context.label = attribute_of(own, "security.selinux");
  return context;
}

}  // namespace udtcat::trees
