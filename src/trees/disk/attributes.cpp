// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/attributes.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <udtcat/units.hpp>

#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "trees/disk/accounts.hpp"

namespace udtcat::trees {

namespace {

constexpr std::size_t kMaxListBytes = 65'536;    // spec: Linux XATTR_LIST_MAX, XATTR_SIZE_MAX
constexpr std::size_t kMaxExtendedBytes = kMiB;  // spec: docs/spec/trees.md §1: what a message has room for
constexpr std::size_t kEachBytes = 5;            // spec: docs/spec/trees.md §3: the lengths of both

/// Whether an attribute is sent: user.*, and with the owner security.* and trusted.*, but for overlayfs(5)'s own.
bool goes_along(std::string_view name, bool with_owner) {
  if (name.starts_with("trusted.overlay.")) return false;
  return name.starts_with("user.") || (with_owner && (name.starts_with("security.") || name.starts_with("trusted.")));
}

/// A path to what is open, by which calls that know no O_PATH reach it; it is a link, which they follow.
std::string path_to(const bridge::Descriptor& opened) { return fmt::format("/proc/self/fd/{}", opened.number()); }

tl::unexpected<Error> cannot_set(const std::string& attribute, const std::string& shown) {
  return core::fail_by_errno(Errc::local_write_failed, fmt::format("set the {} of {}", attribute, shown));
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
  if (got < 0) return core::fail_by_errno(Errc::local_read_failed, "read the extended attributes of " + shown);
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
    if (got < 0 && errno == ENODATA) continue;  // it was removed meanwhile
    // One of security.* or trusted.* that this account, or this file system, does not give is skipped.
    if (got < 0 && !name.starts_with("user.") && (errno == EPERM || errno == EACCES || errno == ENOTSUP)) continue;
    if (got < 0)
      return core::fail_by_errno(Errc::local_read_failed, fmt::format("read the attribute {} of {}", name, shown));
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

/// Labels are the target's own policy's; a capability is the file's, and goes with the content that it was given for.
bool is_removed(std::string_view name) { return !name.starts_with("security.") || name == "security.capability"; }

std::string kind_of_attribute(std::string_view name) {
  return fmt::format("attributes of {}*", name.substr(0, name.find('.') + 1));
}

/// Gives one file its attributes, and notes what cannot be had.
class AttributeWriter {
 public:
  AttributeWriter(const bridge::Descriptor& opened, const Attributes& wanted, const AttributeTraits& attribute_traits)
      : opened_(opened), wanted_(wanted), keeping_(attribute_traits) {}

  /// Reads the status, unless nothing was set since the last time.
  [[nodiscard]] bool look() { return !std::exchange(has_set_, false) || ::fstat(opened_.number(), &status_) == 0; }
  [[nodiscard]] bool is_link() const { return S_ISLNK(status_.st_mode); }

  /// chown(2) takes mode bits and capabilities away, so it comes first.
  void give_owner() {
    const auto ids = ids_of(wanted_.owner);
    if (!ids) return lose("owner", ids.error().cause);
    if (status_.st_uid == ids->uid && status_.st_gid == ids->gid) return;
    has_set_ = true;
    if (::fchownat(opened_.number(), "", ids->uid, ids->gid, AT_EMPTY_PATH) != 0) lose_by_errno("owner");
  }

  void give_extended(bool is_new, const std::string& shown) {
    // A new file has what its directory gave it at most; where none is wanted the kernel is not asked.
    if (is_new && wanted_.extended.empty()) return;
    const std::string path = path_to(opened_);
    constexpr mode_t kReadAndSet = S_IRUSR | S_IWUSR;  // what the owner needs, too
    const auto permit = [&](mode_t needed) {
      if (is_link() || (status_.st_mode & needed) == needed) return;
      has_set_ = true;
      std::ignore = set_mode(opened_, (status_.st_mode & kModeBits) | kReadAndSet, shown);
    };
    permit(S_IRUSR);
    const auto there = read_extended(path, AtLink::followed, shown, keeping_.owners);
    if (!there) return lose("extended attributes", there.error().cause);
    has_set_ = has_set_ || *there != wanted_.extended;
    if (!wanted_.extended.empty()) permit(kReadAndSet);
    for (const ExtendedAttribute& each : wanted_.extended) {
      if (!goes_along(each.name, keeping_.owners) || std::ranges::find(*there, each) != there->end()) continue;
      if (::setxattr(path.c_str(), each.name.c_str(), each.value.data(), each.value.size(), 0) != 0)
        lose_attribute(each.name, each.value.size());
    }
    for (const ExtendedAttribute& each : *there)
      if (is_removed(each.name) &&
          std::ranges::find(wanted_.extended, each.name, &ExtendedAttribute::name) == wanted_.extended.end() &&
          ::removexattr(path.c_str(), each.name.c_str()) != 0 && errno != ENODATA)
        lose(kind_of_attribute(each.name), fmt::format("{} cannot be removed: {}", each.name, core::errno_text(errno)));
  }

  void give_mode(const std::string& shown) {
    if (!keeping_.modes || !look() || (status_.st_mode & kModeBits) == wanted_.mode) return;
    has_set_ = true;
    if (const auto set = set_mode(opened_, wanted_.mode, shown); !set) lose("mode", set.error().cause);
  }

  void give_time() {
    if (changed_time_of(status_) == cut_to(wanted_.changed, keeping_.time_unit)) return;
    has_set_ = true;
    // Both times, as some file systems in user space ignore a call that leaves one out.
    const std::array<timespec, 2> times{
        status_.st_atim, timespec{wanted_.changed.seconds, static_cast<long>(wanted_.changed.nanoseconds)}};
    if (::utimensat(opened_.number(), "", times.data(), AT_EMPTY_PATH) != 0 && !set_times_by_path(times))
      lose_by_errno("time");
  }

  /// Once all was set.
  void compare() {
    if (!is_link() && (status_.st_mode & kModeBits) != wanted_.mode)
      lose("mode", fmt::format("it is {:04o} there, not {:04o}", status_.st_mode & kModeBits, wanted_.mode));
    if (changed_time_of(status_) != cut_to(wanted_.changed, keeping_.time_unit))
      lose("time", fmt::format("it is {}.{:09} there, not {}.{:09}", status_.st_mtim.tv_sec, status_.st_mtim.tv_nsec,
                               wanted_.changed.seconds, wanted_.changed.nanoseconds));
    const auto ids =
        keeping_.owners ? ids_of(wanted_.owner) : Result<OwnerIds>(OwnerIds{status_.st_uid, status_.st_gid});
    if (ids && (status_.st_uid != ids->uid || status_.st_gid != ids->gid))
      lose("owner", fmt::format("it is {}:{} there, not {}:{}", status_.st_uid, status_.st_gid, ids->uid, ids->gid));
  }

  [[nodiscard]] Losses losses() && { return std::move(losses_); }

 private:
  /// The first cause of each kind counts.
  void lose(std::string what, std::string cause) {
    if (std::ranges::find(losses_, what, &Loss::what) == losses_.end())
      losses_.push_back({std::move(what), std::move(cause)});
  }
  void lose_by_errno(const char* what) { lose(what, core::errno_text(errno)); }
  void lose_attribute(const std::string& name, std::size_t bytes) {
    const bool is_large = errno == ENOSPC || errno == E2BIG || errno == ERANGE;
    lose(kind_of_attribute(name),
         fmt::format("{} of {} bytes{}: {}", name, bytes, is_large ? ", which may be more than one can have there" : "",
                     core::errno_text(errno)));
  }
  /// A file system in user space may know no call by descriptor.
  [[nodiscard]] bool set_times_by_path(const std::array<timespec, 2>& times) const {
    return !is_link() && ::utimensat(AT_FDCWD, path_to(opened_).c_str(), times.data(), 0) == 0;
  }

  const bridge::Descriptor& opened_;
  const Attributes& wanted_;
  const AttributeTraits& keeping_;
  struct stat status_ {};
  bool has_set_ = true;  // something, since the last look
  Losses losses_;
};

}  // namespace

FileTime cut_to(const FileTime& time, std::chrono::nanoseconds unit) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t seconds = std::max<std::int64_t>(unit.count() / kSecond, 1);
  if (unit.count() >= kSecond) return {time.seconds - ((time.seconds % seconds) + seconds) % seconds, 0};
  return {time.seconds, time.nanoseconds - time.nanoseconds % static_cast<std::uint32_t>(unit.count())};
}

bool has_attributes(const struct stat& status, const Attributes& attributes, const AttributeTraits& attribute_traits) {
  const bool is_link = S_ISLNK(status.st_mode);
  if (!is_link && attribute_traits.modes && (status.st_mode & kModeBits) != attributes.mode) return false;
  if (changed_time_of(status) != cut_to(attributes.changed, attribute_traits.time_unit)) return false;
  if (!attribute_traits.owners) return true;
  const auto ids = ids_of(attributes.owner);
  return ids && status.st_uid == ids->uid && status.st_gid == ids->gid;
}

FileTime changed_time_of(const struct stat& status) {
  return {status.st_mtim.tv_sec, static_cast<std::uint32_t>(status.st_mtim.tv_nsec)};
}

Result<Attributes> read_attributes(const files::FileLocation& location, const struct stat& status) {
  Attributes attributes{
      .mode = status.st_mode & kModeBits, .changed = changed_time_of(status), .owner = {}, .extended = {}};
  UDTCAT_TRY(attributes.owner, owner_of(status.st_uid, status.st_gid));
  UDTCAT_TRY(attributes.extended, read_extended(location.path_by_descriptor(), AtLink::itself, location.shown(), true));
  return attributes;
}

Result<Losses> write_attributes(const bridge::Descriptor& opened, const Attributes& attributes,
                                const AttributeTraits& attribute_traits, bool is_new, const std::string& shown) {
  AttributeWriter writer(opened, attributes, attribute_traits);
  if (!writer.look()) return cannot_set("attributes", shown);
  if (attribute_traits.owners) writer.give_owner();
  if (!writer.is_link()) {
    writer.give_extended(is_new, shown);
    writer.give_mode(shown);
  }
  writer.give_time();
  if (!writer.look()) return cannot_set("attributes", shown);
  writer.compare();
  return std::move(writer).losses();
}

Status set_mode(const bridge::Descriptor& opened, std::uint32_t mode, const std::string& shown) {
  // fchmod(2) takes no O_PATH.
  if (::fchmod(opened.number(), mode) != 0 && ::chmod(path_to(opened).c_str(), mode) != 0)
    return cannot_set("mode", shown);
  return {};
}

}  // namespace udtcat::trees
