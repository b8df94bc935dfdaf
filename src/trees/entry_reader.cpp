// SPDX-License-Identifier: Apache-2.0
#include "trees/entry_reader.hpp"

#include <cerrno>

#include <sys/sysmacros.h>

#include "lib/core/try.hpp"
#include "trees/disk/entry_path.hpp"
#include "trees/disk/fingerprint.hpp"

namespace udtcat::trees {

namespace {

constexpr int kMaxLooks = 3;  // guess: a name that changes at each of these is one that is being changed

/// Whether nothing but the time of access and the number of names differs.
bool is_same_look(const struct stat& one, const struct stat& other) {
  return is_same_state(one, other) && one.st_mode == other.st_mode && one.st_uid == other.st_uid &&
         one.st_gid == other.st_gid && one.st_rdev == other.st_rdev;
}

/// Whether a name is not there any more, or is below a link, by what kept it from being found.
bool has_gone(const Error& error) {
  return error.errno_value == 0 || error.errno_value == ENOENT || error.errno_value == ENOTDIR ||
         error.errno_value == ELOOP || error.errno_value == ESTALE;
}

/// errors: Errc::local_read_failed: no receiver can have the name
Status check_path(const SourceItem& item) {
  if (is_entry_path(item.path)) return {};
  return fail(Errc::local_read_failed, "send " + item.visited.location.shown(),
              has_parts_name(item.path) ? kLeftByATransfer : "its path is longer than 4096 bytes");
}

}  // namespace

NameResult<std::optional<Entry>> EntryReader::read(SourceItem& item) {
  const auto& location = item.visited.location;
  struct stat& status = item.visited.status;
  const bool is_directory = S_ISDIR(status.st_mode);
  if (S_ISSOCK(status.st_mode)) return std::nullopt;
  UDTCAT_CHECK(check_path(item));
  for (int look = 0; look < kMaxLooks; ++look) {
    auto entry = read_once(item);
    UDTCAT_TRY(const auto now, location.look());
    if (!now) return fail(Errc::local_read_failed, "look at " + location.shown(), "it has gone meanwhile");
    if (is_same_look(status, *now)) return entry;
    status = *now;
    // The walk has passed this name, and would not enter a directory there.
    if (S_ISDIR(status.st_mode) && !is_directory)
      return fail(Errc::local_read_failed, "look at " + location.shown(), "it has become a directory meanwhile");
    if (S_ISSOCK(status.st_mode))
      return fail(Errc::local_read_failed, "look at " + location.shown(), "it has become a socket meanwhile");
  }
  return fail(Errc::local_read_failed, "look at " + location.shown(), "it changes again and again");
}

Result<Entry> EntryReader::read_once(const SourceItem& item) {
  const struct stat& status = item.visited.status;
  const auto& location = item.visited.location;
  Entry entry{.attributes = {}, .path = item.path, .fingerprint = {}, .target = {}};
  UDTCAT_TRY(entry.attributes, read_attributes(location, status));
  if (const KindFacts* const facts = facts_of(status.st_mode)) entry.kind = facts->kind;
  if (entry.kind == EntryKind::file) {
    UDTCAT_CHECK(as_file(item, entry));
  } else if (entry.kind == EntryKind::symbolic_link) {
    UDTCAT_TRY(entry.target, location.read_target());
  } else if (is_device(entry.kind)) {
    entry.major = major(status.st_rdev);
    entry.minor = minor(status.st_rdev);
  }
  return entry;
}

/// Makes the entry a hard link where an earlier entry is this file, and a file else.
Status EntryReader::as_file(const SourceItem& item, Entry& entry) {
  const struct stat& status = item.visited.status;
  UDTCAT_TRY(const auto first, first_name_of(item));
  if (first) {
    entry.kind = EntryKind::hard_link;
    entry.of = *first;
    return {};
  }
  entry.kind = EntryKind::file;
  entry.may_be_linked = status.st_nlink > 1;
  entry.size_bytes = static_cast<std::uint64_t>(status.st_size);
  entry.fingerprint = fingerprint_of(item.visited.location, status);
  return {};
}

/// An inode may have been given to another file since its first name was announced, so that name is looked at again.
Result<std::optional<EntryId>> EntryReader::first_name_of(const SourceItem& item) {
  const struct stat& status = item.visited.status;
  if (status.st_nlink < 2) return std::nullopt;
  const auto found = first_names_.find({status.st_dev, status.st_ino});
  if (found == first_names_.end()) return std::nullopt;
  const FirstName& first = found->second;
  if (first.source_name.root == item.source_name.root && first.source_name.path == item.source_name.path)
    return std::nullopt;
  const auto location = source_.locate(first.source_name);
  if (!location && !has_gone(location.error().error)) return tl::unexpected(location.error().error);
  if (!location) return std::nullopt;
  for (const auto& each : {*location, item.visited.location}) {
    UDTCAT_TRY(const auto now, identity_of(each));
    if (!now || !is_same_identity(first.identity, *now)) return std::nullopt;
  }
  return first.id;
}

bool EntryReader::still_has(const SourceName& source_name, const struct stat& status, const Attributes& attributes) {
  const auto visited = source_.look(source_name);
  if (!visited || !*visited || !is_same_file((*visited)->status, status)) return false;
  const auto now = read_attributes((*visited)->location, (*visited)->status);
  return now && now->mode == attributes.mode && now->changed == attributes.changed && now->owner == attributes.owner &&
         now->extended == attributes.extended;
}

NameStatus EntryReader::remember(const SourceItem& item, EntryId id) {
  const struct stat& status = item.visited.status;
  UDTCAT_TRY(const auto identity, identity_of(item.visited.location));
  if (identity && is_identity_of(*identity, status))
    first_names_.insert_or_assign({status.st_dev, status.st_ino}, FirstName{id, item.source_name, *identity});
  return {};
}

void EntryReader::forget(const struct stat& status, EntryId id) {
  const auto found = first_names_.find({status.st_dev, status.st_ino});
  if (found != first_names_.end() && found->second.id == id) first_names_.erase(found);
}

}  // namespace udtcat::trees
