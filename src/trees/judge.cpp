// SPDX-License-Identifier: Apache-2.0
#include "trees/judge.hpp"

#include <algorithm>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "lib/core/try.hpp"
#include "trees/disk/leaf_reader.hpp"
#include "trees/disk/stamp.hpp"
#include "trees/disk/writers.hpp"

namespace udtcat::trees {

namespace {

constexpr std::uint64_t kQuickBytes = 16'777'216;  // guess: hashed within 10 ms

/// Whether what stands may be the file that is announced.
bool may_be_equal(const Entry& entry, const std::optional<struct stat>& status) {
  return entry.size_bytes > 0 && status && S_ISREG(status->st_mode) &&
         static_cast<std::uint64_t>(status->st_size) == entry.size_bytes;
}

}  // namespace

void Judge::judge(Numbered numbered) {
  const auto answered = answer(numbered);
  if (answered) return;
  if (!answered.error().is_of_name) return reception_.fail(answered.error().error);
  reception_.forbid_links_to(numbered.id, numbered.entry);
  reception_.settle(numbered.body_bytes);
  // An error of a directory above it does not name it.
  std::string reason = answered.error().message();
  if (reason.find(numbered.entry.path) == std::string::npos)
    reason = destination_.tree().shown(numbered.entry.path) + ": " + reason;
  reception_.refuse(numbered.id, reason, Reception::When::now);
}

ScopedStatus Judge::answer(const Numbered& numbered) {
  switch (numbered.entry.kind) {
    case EntryKind::file:
      return answer_file(numbered);
    case EntryKind::directory:
      return answer_directory(numbered);
    case EntryKind::hard_link:
      return answer_link(numbered);
    default:
      UDTCAT_CHECK(destination_.make(numbered.entry));
      return have(numbered, std::nullopt);
  }
}

ScopedStatus Judge::have(const Numbered& numbered, const std::optional<files::Digest>& digest) {
  reception_.prove(numbered.entry, digest);
  reception_.settle(numbered.body_bytes);  // before the sender can know
  return of_transfer(reception_.writer().put(Have{numbered.id, digest}));
}

ScopedStatus Judge::answer_directory(const Numbered& numbered) {
  UDTCAT_TRY(const auto path, remember(numbered.entry));
  UDTCAT_TRY(const auto made, destination_.make_directory(numbered.entry));
  directories_.push_back({numbered.id, path, numbered.entry.attributes, made.st_dev, made.st_ino});
  return have(numbered, std::nullopt);
}

/// The link itself comes when the file that it leads to has its name.
ScopedStatus Judge::answer_link(const Numbered& numbered) {
  if (linkable(numbered.entry.of) == nullptr)
    return of_transfer(
        fail(Errc::protocol_violated, "link " + numbered.entry.path, "it leads to no file that can have links"));
  UDTCAT_TRY(const auto path, remember(numbered.entry));
  links_.push_back({numbered.id, numbered.entry.of, path});
  return have(numbered, std::nullopt);
}

ScopedStatus Judge::answer_file(const Numbered& numbered) {
  const Entry& entry = numbered.entry;
  if (entry.may_be_linked) {
    UDTCAT_TRY(const auto path, remember(entry));
    linkable_.push_back({numbered.id, path});
    reception_.expect_links_to(numbered.id, entry.path);
  }
  UDTCAT_TRY(const auto location, destination_.locate(entry.path));
  UDTCAT_TRY(const auto status, of_name(location.look()));
  if (status) {
    UDTCAT_CHECK(destination_.check_own(entry.path, *status));
    UDTCAT_TRY(const bool is_proved, have_proved(numbered, location));
    if (is_proved) return {};
  }
  const auto place = destination_.check_place(entry.path, status);
  if (!may_be_equal(entry, status)) UDTCAT_CHECK(place);  // else it may need no part
  // The file is expected before its answer is on its way.
  auto candidate = find_candidate(entry, status);
  if (candidate) {
    // Answers before this one need not wait until it is hashed.
    if (entry.size_bytes > kQuickBytes) UDTCAT_CHECK(of_transfer(reception_.writer().flush()));
    hash_leaves(entry, *candidate);
  }
  if (!candidate || candidate->leaves.leaves() == 0) {
    UDTCAT_CHECK(place);
    reception_.expect(numbered.id, {entry, std::nullopt, numbered.body_bytes});
    return of_transfer(reception_.writer().put(Want{numbered.id}));
  }
  if (!place) candidate->why_it_stays = place.error();
  const LeafRuns leaves = candidate->leaves;
  reception_.expect(numbered.id, {entry, std::move(candidate), numbered.body_bytes});
  return tell_leaves(numbered.id, leaves);
}

/// Whether the book knows the very file that stands, with its attributes; then it has its answer.
ScopedResult<bool> Judge::have_proved(const Numbered& numbered, const files::FileLocation& location) {
  const Entry& entry = numbered.entry;
  const auto opened = location.open(O_PATH, Errc::local_read_failed);
  struct stat status {};
  if (!opened || ::fstat(opened->number(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const auto digest = reception_.proofs().find(entry, location, status);
  if (!digest) return false;
  UDTCAT_TRY(const bool has_all, destination_.has_attributes(status, entry));
  if (!has_all) return false;
  // Its extended attributes may differ; a state that is another one then, whoever has changed it, is hashed.
  UDTCAT_CHECK(destination_.set_attributes_of(*opened, entry, false));
  struct stat after {};
  if (::fstat(opened->number(), &after) != 0 || !is_same_state(after, status)) return false;
  UDTCAT_TRY(const auto now, destination_.hold(entry.path, status));
  reception_.stand(numbered.id, entry, now);
  reception_.tally().bytes += entry.size_bytes;
  UDTCAT_CHECK(have(numbered, digest));
  return true;
}

/// A part is the better one: it is this file's.
std::optional<Candidate> Judge::find_candidate(const Entry& entry, const std::optional<struct stat>& status) {
  if (entry.size_bytes == 0) return std::nullopt;
  const auto folder = destination_.folder_of(entry.path);
  const auto part = folder ? folder->of(entry.path).look() : std::optional<struct stat>();
  if (part && *part && S_ISREG((*part)->st_mode) && (*part)->st_size > 0 && (*part)->st_nlink == 1)
    return Candidate{true, **part, {}};
  return may_be_equal(entry, status) ? std::optional(Candidate{false, *status, {}}) : std::nullopt;
}

/// Leaves that cannot be read are none. One that is read is that of the state in `candidate`, or is not believed later.
void Judge::hash_leaves(const Entry& entry, Candidate& candidate) {
  const auto file = open_candidate(destination_, entry.path, candidate);
  if (!file) return;
  struct stat before {};
  const bool is_known = ::fstat(file->number(), &before) == 0;
  // A part is open for writing here, and nothing is believed of its times.
  const bool is_exposed = candidate.is_part || writers_of(*file) == Writers::none || expose_stores(*file);
  if (::fstat(file->number(), &candidate.status) != 0) return;
  const auto location = destination_.locate(entry.path);
  candidate.is_told_by_times = is_exposed && is_known && is_same_state(before, candidate.status) && location &&
                               tells_of_changes(*location, candidate.status) &&
                               time_to_settle(candidate.status) == std::chrono::nanoseconds(0);
  const auto there = static_cast<std::uint64_t>(candidate.status.st_size);
  LeafReader reader(*file, entry.size_bytes, memory_, entry.path);
  while (reader.next_end() <= there && !reception_.should_stop()) {
    const auto leaf = reader.next();
    if (!leaf || !*leaf) return;
    candidate.leaves.add(hash_of(**leaf));
  }
}

ScopedStatus Judge::tell_leaves(EntryId id, const LeafRuns& leaves) {
  Hashes hashes{.entry = id, .last = false, .zeros = 0, .digests = {}};
  for (std::uint64_t leaf = 0; leaf < leaves.leaves();) {
    const auto run = leaves.run_at(leaf);
    const bool is_zero_run = run.digest == hash_of_zeros();
    const std::uint64_t count = is_zero_run ? run.leaves : 1;
    if (hashes.digests.size() == kMaxDigests || (is_zero_run && !hashes.digests.empty())) {
      UDTCAT_CHECK(of_transfer(reception_.writer().put(hashes)));
      hashes.zeros = 0;
      hashes.digests.clear();
    }
    if (is_zero_run)
      hashes.zeros += count;
    else
      hashes.digests.push_back(run.digest);
    leaf += count;
  }
  hashes.last = true;
  return of_transfer(reception_.writer().put(hashes));
}

const Judge::Linkable* Judge::linkable(EntryId id) const {
  const auto found = std::ranges::lower_bound(linkable_, id, {}, &Linkable::id);
  return found == linkable_.end() || found->id != id ? nullptr : &*found;
}

/// Of directories and links, which wait for the end.  errors: Errc::stream_refused: there are too many
ScopedResult<PathStore::Number> Judge::remember(const Entry& entry) {
  // An entry is in one of the lists, and a file that is missing is remembered as such besides.
  constexpr std::size_t kEachBytes = sizeof(Directory) + sizeof(Linkable);
  const PathStore::Number path = paths_.add(entry.path);
  remembered_bytes_ += kEachBytes + entry.attributes.owner.user.size() + entry.attributes.owner.group.size();
  for (const auto& each : entry.attributes.extended)
    remembered_bytes_ += sizeof each + each.name.size() + each.value.size();
  if (remembered_bytes_ + paths_.bytes() <= kMaxRememberedBytes) return path;
  return of_transfer(fail(Errc::stream_refused, "take one more directory or link",
                          fmt::format("there are more than {} GiB of them", kMaxRememberedBytes / kGiB)));
}

}  // namespace udtcat::trees
