// SPDX-License-Identifier: Apache-2.0
#include "files/attributes.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <udtcat/units.hpp>

#include "files/accounts.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::files {

namespace {

constexpr std::size_t kMaxListBytes = 65'536;    // spec: Linux XATTR_LIST_MAX, XATTR_SIZE_MAX
constexpr std::size_t kMaxExtendedBytes = kMiB;  // spec: docs/spec/trees.md §1: what a message has room for
constexpr std::size_t kEachBytes = 5;            // spec: docs/spec/trees.md §3: the lengths of both

/// Of an attribute that goes along: a user's, and with the owner the system's, too. Access lists are of system.*.
bool goes_along(std::string_view name, bool with_owner) {
  return name.starts_with("user.") || (with_owner && (name.starts_with("security.") || name.starts_with("trusted.")));
}

/// A path to what is open, by which calls that know no O_PATH reach it; it is a link, which they follow.
std::string path_to(const bridge::Descriptor& opened) { return fmt::format("/proc/self/fd/{}", opened.number()); }

tl::unexpected<Error> cannot_set(const std::string& attribute, const std::string& shown) {
  return fail(Errc::local_write_failed, fmt::format("set the {} of {}", attribute, shown), core::errno_text(errno));
}

/// A file system without extended attributes has none.
bool has_no_attributes(ssize_t got) { return got < 0 && (errno == ENOTSUP || errno == ENODATA); }

/// Whose attributes are meant where a path is that of a symbolic link.
enum class AtLink { itself, followed };

Result<std::vector<std::string>> names_of_attributes(const std::string& path, AtLink at_link,
                                                     const std::string& shown) {
  std::array<char, kMaxListBytes> list;  // NOLINT: filled by the next call
  const ssize_t got = at_link == AtLink::itself ? ::llistxattr(path.c_str(), list.data(), list.size())
                                                : ::listxattr(path.c_str(), list.data(), list.size());
  if (has_no_attributes(got)) return std::vector<std::string>{};
  if (got < 0)
    return fail(Errc::local_read_failed, "read the extended attributes of " + shown, core::errno_text(errno));
  std::vector<std::string> names;
  for (std::string_view rest(list.data(), static_cast<std::size_t>(got)); !rest.empty();) {
    names.emplace_back(rest.substr(0, rest.find('\0')));
    rest.remove_prefix(std::min(rest.size(), names.back().size() + 1));
  }
  return names;
}

/// with_owner   those of the system, too
Result<std::vector<ExtendedAttribute>> read_extended(const std::string& path, AtLink at_link, const std::string& shown,
                                                     bool with_owner) {
  UDTCAT_TRY(const auto names, names_of_attributes(path, at_link, shown));
  std::vector<ExtendedAttribute> extended;
  std::size_t bytes = 0;
  for (const std::string& name : names) {
    if (!goes_along(name, with_owner)) continue;
    std::string value(kMaxListBytes, '\0');
    const ssize_t got = at_link == AtLink::itself ? ::lgetxattr(path.c_str(), name.c_str(), value.data(), value.size())
                                                  : ::getxattr(path.c_str(), name.c_str(), value.data(), value.size());
    // One of the system's that this account may not read is none of its own.
    if (has_no_attributes(got) || (got < 0 && (errno == EPERM || errno == EACCES))) continue;
    if (got < 0)
      return fail(Errc::local_read_failed, fmt::format("read the attribute {} of {}", name, shown),
                  core::errno_text(errno));
    value.resize(static_cast<std::size_t>(got));
    bytes += name.size() + value.size() + kEachBytes;
    if (bytes > kMaxExtendedBytes)
      return fail(Errc::local_read_failed, "send the extended attributes of " + shown,
                  fmt::format("they are more than {} MiB", kMaxExtendedBytes / kMiB));
    extended.push_back({name, std::move(value)});
  }
  std::ranges::sort(extended);
  return extended;
}

Status write_extended(const std::string& path, const std::string& shown, const std::vector<ExtendedAttribute>& wanted,
                      bool with_owner, bool is_new) {
  // A new file has what its directory gave it at most; where none is wanted the kernel is not asked.
  std::vector<ExtendedAttribute> there;
  if (!is_new || !wanted.empty()) {
    UDTCAT_TRY(there, read_extended(path, AtLink::followed, shown, with_owner));
  }
  for (const ExtendedAttribute& each : wanted) {
    if (!goes_along(each.name, with_owner) || std::ranges::find(there, each) != there.end()) continue;
    if (::setxattr(path.c_str(), each.name.c_str(), each.value.data(), each.value.size(), 0) != 0)
      return cannot_set("attribute " + each.name, shown);
  }
  for (const ExtendedAttribute& each : there)
    if (std::ranges::find(wanted, each.name, &ExtendedAttribute::name) == wanted.end() &&
        ::removexattr(path.c_str(), each.name.c_str()) != 0)
      return cannot_set("attribute " + each.name, shown);
  return {};
}

}  // namespace

bool has_attributes(const struct stat& status, const Attributes& attributes, bool with_owner) {
  const bool is_link = S_ISLNK(status.st_mode);
  if (!is_link && (status.st_mode & kModeBits) != attributes.mode) return false;
  if (changed_time_of(status) != attributes.changed) return false;
  if (!with_owner) return true;
  const auto ids = ids_of(attributes.owner);
  return ids && status.st_uid == ids->uid && status.st_gid == ids->gid;
}

FileTime changed_time_of(const struct stat& status) {
  return {status.st_mtim.tv_sec, static_cast<std::uint32_t>(status.st_mtim.tv_nsec)};
}

Result<Attributes> read_attributes(const FileLocation& location, const struct stat& status) {
  Attributes attributes{.mode = status.st_mode & kModeBits,
                        .changed = changed_time_of(status),
                        .owner = owner_of(status.st_uid, status.st_gid),
                        .extended = {}};
  UDTCAT_TRY(attributes.extended, read_extended(location.path_by_descriptor(), AtLink::itself, location.shown(), true));
  return attributes;
}

Status write_attributes(const bridge::Descriptor& opened, const Attributes& attributes, const AttributeWishes& wishes,
                        const std::string& shown) {
  struct stat status {};
  if (::fstat(opened.number(), &status) != 0) return cannot_set("attributes", shown);
  const bool is_link = S_ISLNK(status.st_mode);
  // chown(2) takes mode bits and capabilities away, so it comes first.
  if (wishes.keeps_owner) {
    UDTCAT_TRY(const auto wanted, ids_of(attributes.owner));
    const bool has_owner = status.st_uid == wanted.uid && status.st_gid == wanted.gid;
    if (!has_owner && ::fchownat(opened.number(), "", wanted.uid, wanted.gid, AT_EMPTY_PATH) != 0)
      return cannot_set("owner", shown);
  }
  if (!is_link) {
    // An owner without the right to write may not set them, either.
    if (!attributes.extended.empty() && (status.st_mode & S_IWUSR) == 0)
      UDTCAT_CHECK(set_mode(opened, (status.st_mode & kModeBits) | S_IRUSR | S_IWUSR, shown));
    UDTCAT_CHECK(write_extended(path_to(opened), shown, attributes.extended, wishes.keeps_owner, wishes.is_new));
    if (::fstat(opened.number(), &status) != 0) return cannot_set("attributes", shown);
    if ((status.st_mode & kModeBits) != attributes.mode) UDTCAT_CHECK(set_mode(opened, attributes.mode, shown));
  }
  const std::array<timespec, 2> times{
      timespec{0, UTIME_OMIT}, timespec{attributes.changed.seconds, static_cast<long>(attributes.changed.nanoseconds)}};
  if (changed_time_of(status) != attributes.changed &&
      ::utimensat(opened.number(), "", times.data(), AT_EMPTY_PATH) != 0)
    return cannot_set("time", shown);
  if (::fstat(opened.number(), &status) != 0) return cannot_set("attributes", shown);
  if (has_attributes(status, attributes, wishes.keeps_owner)) return {};
  return fail(Errc::local_write_failed, "give " + shown + " its attributes",
              "its file system keeps another mode, time or owner than it was given");
}

Status set_mode(const bridge::Descriptor& opened, std::uint32_t mode, const std::string& shown) {
  // fchmod(2) takes no O_PATH.
  if (::fchmod(opened.number(), mode) != 0 && ::chmod(path_to(opened).c_str(), mode) != 0)
    return cannot_set("mode", shown);
  return {};
}

}  // namespace udtcat::files
