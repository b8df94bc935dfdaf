// SPDX-License-Identifier: Apache-2.0
#include "trees/destination.hpp"

#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::trees {

namespace {

constexpr mode_t kUnfinishedMode = 0700;  // spec: docs/spec/trees.md §5

}  // namespace

Status Limit::charge(std::uint64_t bytes, const std::string& path) {
  const std::uint64_t now = charged_ += bytes;
  if (!bytes_ || now <= *bytes_) return {};
  return fail(Errc::stream_refused, "write " + path,
              fmt::format("the transfer would be more than --limit {}", core::format_size(*bytes_)));
}

Result<files::FileLocation> Destination::locate(const std::string& path) {
  return cursor_.locate(path, Errc::local_write_failed);
}

Result<std::optional<struct stat>> Destination::look(const std::string& path) {
  UDTCAT_TRY(const auto location, locate(path));
  return location.look();
}

Status Destination::charge_name(const Entry& entry) {
  std::uint64_t bytes = Limit::kNameBytes;
  for (const auto& each : entry.attributes.extended) bytes += each.name.size() + each.value.size();
  return limit_.charge(bytes, entry.path);
}

Status Destination::make_directory(const Entry& entry) {
  const std::string& path = entry.path;
  UDTCAT_TRY(const auto location, locate(path));
  UDTCAT_TRY(const auto status, location.look());
  if (!status) {
    UDTCAT_CHECK(charge_name(entry));
    return location.make_directory(kUnfinishedMode);
  }
  if (!S_ISDIR(status->st_mode))
    return fail(Errc::local_write_failed, "make the directory " + location.shown(), "there is something else");
  const bool is_usable = (status->st_mode & S_IRWXU) == S_IRWXU;
  if (is_usable || path == "." || status->st_uid != ::geteuid()) return {};
  UDTCAT_TRY(const auto opened, location.open(O_PATH | O_DIRECTORY, Errc::local_write_failed));
  return files::set_mode(opened, (status->st_mode & files::kModeBits) | S_IRWXU, location.shown());
}

/// Whether the very same is there, but for its attributes.
Result<bool> Destination::is_there(const Entry& entry, const files::FileLocation& location) {
  UDTCAT_TRY(const auto status, location.look());
  if (!status || (status->st_mode & S_IFMT) != files::format_of(entry.kind)) return false;
  if (entry.kind == EntryKind::fifo) return true;
  if (entry.kind != EntryKind::symbolic_link) return status->st_rdev == makedev(entry.major, entry.minor);
  UDTCAT_TRY(const std::string target, location.read_target());
  return target == entry.target;
}

Status Destination::make_part(const Entry& entry, const files::FileLocation& part) const {
  part.remove();
  if (entry.kind == EntryKind::symbolic_link) return part.make_symbolic_link(entry.target);
  return part.make_node(files::format_of(entry.kind).value() | kUnfinishedMode, makedev(entry.major, entry.minor));
}

Status Destination::make(const Entry& entry) {
  UDTCAT_TRY(const auto location, locate(entry.path));
  UDTCAT_TRY(const bool is_so, is_there(entry, location));
  if (is_so) return set_attributes(entry.path, entry.attributes);
  UDTCAT_CHECK(charge_name(entry));
  const auto part = parts_.of(entry.path);
  UDTCAT_CHECK(make_part(entry, part));
  UDTCAT_TRY(const auto opened, part.open(O_PATH, Errc::local_write_failed));
  UDTCAT_CHECK(set_attributes_of(opened, entry, true));
  UDTCAT_CHECK(publish(entry.path));
  return {};
}

Status Destination::make_hard_link(const std::string& path, const std::string& of) {
  UDTCAT_TRY(const auto original, locate(of));
  UDTCAT_TRY(const auto location, locate(path));
  UDTCAT_TRY(const auto original_status, original.look());
  UDTCAT_TRY(const auto status, location.look());
  if (!original_status || !S_ISREG(original_status->st_mode))
    return fail(Errc::local_write_failed, "link " + location.shown(), original.shown() + " is not there");
  if (status && files::is_same_file(*status, *original_status)) return {};
  UDTCAT_CHECK(limit_.charge(Limit::kNameBytes, path));
  const auto part = parts_.of(path);
  part.remove();
  UDTCAT_CHECK(part.make_hard_link(original));
  UDTCAT_CHECK(publish(path));
  return {};
}

Status Destination::set_attributes(const std::string& path, const files::Attributes& attributes) {
  UDTCAT_TRY(const auto location, locate(path));
  UDTCAT_TRY(const auto opened, location.open(O_PATH, Errc::local_write_failed));
  return files::write_attributes(opened, attributes, {.keeps_owner = keeps_owners_, .is_new = false},
                                 tree().shown(path));
}

Status Destination::set_attributes_of(const bridge::Descriptor& opened, const Entry& entry, bool is_new) const {
  return files::write_attributes(opened, entry.attributes, {.keeps_owner = keeps_owners_, .is_new = is_new},
                                 tree().shown(entry.path));
}

Status Destination::sync() const {
  UDTCAT_TRY(const auto root, tree().enter("", Errc::local_write_failed));
  if (::syncfs(root->number()) == 0) return {};
  return fail(Errc::local_write_failed, "store what was written to " + tree().shown("."), core::errno_text(errno));
}

Result<struct stat> Destination::publish(const std::string& path) {
  UDTCAT_TRY(const auto location, locate(path));
  UDTCAT_TRY(const auto part, parts_.of(path).look());
  UDTCAT_CHECK(parts_.of(path).rename_to(location));
  UDTCAT_TRY(const auto now, location.look());
  if (part && now && files::is_same_file(*part, *now)) return *now;
  return fail(Errc::local_write_failed, "put in place " + location.shown(), "somebody else has replaced it");
}

}  // namespace udtcat::trees
