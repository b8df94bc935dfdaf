// SPDX-License-Identifier: Apache-2.0
#include "trees/planner.hpp"

#include <algorithm>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "lib/core/try.hpp"
#include "trees/disk/chunk_reader.hpp"
#include "trees/disk/fingerprint.hpp"
#include "trees/disk/writers.hpp"

namespace udtcat::trees {

namespace {

constexpr std::uint64_t kQuickBytes = 16'777'216;  // guess: hashed within 10 ms

/// Whether what has the name has the size of the announced file.
bool may_be_equal(const Entry& entry, const std::optional<struct stat>& status) {
  return entry.size_bytes > 0 && status && S_ISREG(status->st_mode) &&
         static_cast<std::uint64_t>(status->st_size) == entry.size_bytes;
}

}  // namespace

void Planner::plan(NumberedEntry numbered) {
  const auto answered = answer(numbered);
  if (answered) return;
  if (!answered.error().is_of_name) return state_.fail(answered.error().error);
  state_.forbid_links_to(numbered.id, numbered.entry);
  state_.acknowledge(numbered.body_bytes);
  // An error of a directory above the entry does not name the entry.
  std::string reason = answered.error().message();
  if (reason.find(numbered.entry.path) == std::string::npos)
    reason = destination_.tree().shown(numbered.entry.path) + ": " + reason;
  state_.refuse(numbered.id, reason, ReceiverState::When::now);
}

ScopedStatus Planner::answer(const NumberedEntry& numbered) {
  switch (numbered.entry.kind) {
    case EntryKind::file:
      return answer_file(numbered);
    case EntryKind::directory:
      return answer_directory(numbered);
    case EntryKind::hard_link:
      return answer_link(numbered);
    default:
      UDTCAT_CHECK(destination_.make(numbered.entry));
      return acknowledge(numbered, std::nullopt);
  }
}

ScopedStatus Planner::acknowledge(const NumberedEntry& numbered, const std::optional<files::Digest>& digest) {
  state_.record(numbered.entry, digest);
  state_.acknowledge(numbered.body_bytes);  // before the sender announces the next one
  return of_transfer(state_.writer().put(UpToDate{numbered.id, digest}));
}

ScopedStatus Planner::answer_directory(const NumberedEntry& numbered) {
  UDTCAT_TRY(const auto path, remember(numbered.entry));
  UDTCAT_TRY(const auto made, destination_.make_directory(numbered.entry));
  directories_.push_back({numbered.id, path, numbered.entry.attributes, made.st_dev, made.st_ino});
  return acknowledge(numbered, std::nullopt);
}

/// The link itself is made at the end, when the file that it leads to has its name.
ScopedStatus Planner::answer_link(const NumberedEntry& numbered) {
  if (linkable(numbered.entry.of) == nullptr)
    return of_transfer(
        fail(Errc::protocol_violated, "link " + numbered.entry.path, "it leads to no file that can have links"));
  UDTCAT_TRY(const auto path, remember(numbered.entry));
  links_.push_back({numbered.id, numbered.entry.of, path});
  return acknowledge(numbered, std::nullopt);
}

ScopedStatus Planner::answer_file(const NumberedEntry& numbered) {
  const Entry& entry = numbered.entry;
  if (entry.may_be_linked) {
    UDTCAT_TRY(const auto path, remember(entry));
    linkable_.push_back({numbered.id, path});
    state_.expect_links_to(numbered.id, entry.path);
  }
  UDTCAT_TRY(const auto location, destination_.locate(entry.path));
  UDTCAT_TRY(const auto status, of_name(location.look()));
  if (status) {
    UDTCAT_CHECK(destination_.check_own(entry.path, *status));
    UDTCAT_TRY(const bool is_cached, acknowledge_cached(numbered, location));
    if (is_cached) return {};
  }
  const auto place = destination_.check_place(entry.path, status);
  if (!may_be_equal(entry, status)) UDTCAT_CHECK(place);  // an equal file needs no part
  // expect() comes before the answer, which the contents may follow at once.
  auto basis = find_basis(entry, status);
  if (basis) {
    // Answers before this one need not wait until it is hashed.
    if (entry.size_bytes > kQuickBytes) UDTCAT_CHECK(of_transfer(state_.writer().flush()));
    hash_chunks(entry, *basis);
  }
  if (!basis || basis->chunks.chunks() == 0) {
    UDTCAT_CHECK(place);
    state_.expect(numbered.id, {entry, std::nullopt, numbered.body_bytes});
    return of_transfer(state_.writer().put(Want{numbered.id}));
  }
  if (!place) basis->why_it_stays = place.error();
  const ChunkHashes chunks = basis->chunks;
  state_.expect(numbered.id, {entry, std::move(basis), numbered.body_bytes});
  return send_hashes(numbered.id, chunks);
}

/// Acknowledges a file that the hash cache knows, unchanged at both ends.  returns  false: it does not
ScopedResult<bool> Planner::acknowledge_cached(const NumberedEntry& numbered, const files::FileLocation& location) {
  const Entry& entry = numbered.entry;
  const auto opened = location.open(O_PATH, Errc::local_read_failed);
  struct stat status {};
  if (!opened || ::fstat(opened->number(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const auto digest = state_.verified_files().find(entry, location, status);
  if (!digest) return false;
  UDTCAT_TRY(const bool has_all, destination_.has_attributes(status, entry));
  if (!has_all) return false;
  // Its extended attributes may differ. Where that, or somebody else, has changed its status it is hashed after all.
  UDTCAT_CHECK(destination_.set_attributes_of(*opened, entry, false));
  struct stat after {};
  if (::fstat(opened->number(), &after) != 0 || !is_same_state(after, status)) return false;
  UDTCAT_TRY(const auto now, destination_.hold(entry.path, status));
  state_.add_link_target(numbered.id, entry, now);
  state_.counters().bytes += entry.size_bytes;
  UDTCAT_CHECK(acknowledge(numbered, digest));
  return true;
}

/// A part comes before what has the name, since it is of this very file.
std::optional<BasisFile> Planner::find_basis(const Entry& entry, const std::optional<struct stat>& status) {
  if (entry.size_bytes == 0) return std::nullopt;
  const auto folder = destination_.folder_of(entry.path);
  const auto part = folder ? folder->of(entry.path).look() : std::optional<struct stat>();
  if (part && *part && S_ISREG((*part)->st_mode) && (*part)->st_size > 0 && (*part)->st_nlink == 1)
    return BasisFile{true, **part, {}};
  return may_be_equal(entry, status) ? std::optional(BasisFile{false, *status, {}}) : std::nullopt;
}

/// Hashes the chunks of `basis`, up to the first that cannot be read. A change meanwhile is seen when they are used:
/// IncomingFile compares them, or the status in `basis`.
void Planner::hash_chunks(const Entry& entry, BasisFile& basis) {
  const auto file = open_basis(destination_, entry.path, basis);
  if (!file) return;
  const auto counted = destination_.write_budget().open(*file);  // another session may replace it
  if (basis.is_part && !drop_page_cache(*file)) return;
  struct stat before {};
  const bool is_known = ::fstat(file->number(), &before) == 0;
  // A part is open for writing in this process, so its times are not trusted.
  const bool is_exposed = basis.is_part || writers_of(*file) == Writers::none || write_back(*file);
  if (::fstat(file->number(), &basis.status) != 0) return;
  const auto location = destination_.locate(entry.path);
  basis.times_tell = is_exposed && is_known && is_same_state(before, basis.status) && location &&
                     tells_of_changes(*location, basis.status) &&
                     time_until_stable(basis.status) == std::chrono::nanoseconds(0);
  const auto there = static_cast<std::uint64_t>(basis.status.st_size);
  ChunkReader reader(*file, entry.size_bytes, memory_, entry.path);
  while (reader.next_end() <= there && !state_.should_stop()) {
    const auto chunk = reader.next();
    if (!chunk || !*chunk) return;
    basis.chunks.add(hash_of(**chunk));
  }
}

ScopedStatus Planner::send_hashes(EntryId id, const ChunkHashes& chunks) {
  Hashes hashes{.entry = id, .last = false, .zeros = 0, .digests = {}};
  for (std::uint64_t chunk = 0; chunk < chunks.chunks();) {
    const auto run = chunks.run_at(chunk);
    const bool is_zero_run = run.digest == hash_of_zeros();
    const std::uint64_t count = is_zero_run ? run.chunks : 1;
    if (hashes.digests.size() == kMaxDigests || (is_zero_run && !hashes.digests.empty())) {
      UDTCAT_CHECK(of_transfer(state_.writer().put(hashes)));
      hashes.zeros = 0;
      hashes.digests.clear();
    }
    if (is_zero_run)
      hashes.zeros += count;
    else
      hashes.digests.push_back(run.digest);
    chunk += count;
  }
  hashes.last = true;
  return of_transfer(state_.writer().put(hashes));
}

const Planner::Linkable* Planner::linkable(EntryId id) const {
  const auto found = std::ranges::lower_bound(linkable_, id, {}, &Linkable::id);
  return found == linkable_.end() || found->id != id ? nullptr : &*found;
}

/// Keeps the path of a directory, a link or a file with links for the end.  errors: Errc::stream_refused: too many
ScopedResult<PathStore::Number> Planner::remember(const Entry& entry) {
  // Each is in one of the three lists, and a file may be in ReceiverState::missing_ as well.
  constexpr std::size_t kEachBytes = sizeof(Directory) + sizeof(Linkable);
  const PathStore::Number path = paths_.add(entry.path);
  remembered_bytes_ += kEachBytes + entry.attributes.owner.user.size() + entry.attributes.owner.group.size();
  for (const auto& each : entry.attributes.extended)
    remembered_bytes_ += sizeof each + each.name.size() + each.value.size();
  const std::size_t most = state_.options().remembered_bytes;
  if (remembered_bytes_ + paths_.bytes() <= most) return path;
  return of_transfer(fail(Errc::stream_refused, "take one more directory or link",
                          fmt::format("there are more than {} GiB of them", most / kGiB)));
}

}  // namespace udtcat::trees
