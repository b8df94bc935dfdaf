// SPDX-License-Identifier: Apache-2.0
#include "trees/sender.hpp"

#include <thread>
#include <tuple>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "files/entry_path.hpp"
#include "files/parts.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"
#include "trees/describe.hpp"

namespace udtcat::trees {

namespace {

constexpr int kMaxAttempts = 3;  // guess: a file that changes at each of these is one that is being written

Error unexpected_answer() {
  return {Errc::protocol_violated, "read the receiver's answer", "it is none to what was announced"};
}

}  // namespace

Status Sender::run(MessageReader& reader, const std::optional<Hello>& hello) {
  std::thread reading([&] { read_answers(reader); });
  Status over = hello ? writer_.put(*hello) : Status();
  // The census has words for the other end, too, which come behind the first one.
  if (over && counts_)
    census_.emplace(source_, [this](const Totals& totals) {
      tally_.all_entries = totals.entries;
      tally_.all_bytes = totals.bytes;
      std::ignore = writer_.put(totals);  // a wire that is broken is found by those who need it
    });
  if (over) over = exchange();
  // A receiver that has failed says why; the wire that breaks then says only that it did.
  if (const auto failure = over ? std::nullopt : answers_.failure()) over = tl::unexpected(*failure);
  if (!over) wire_.cut_unless_ended();
  census_.reset();  // which may wait for room
  if (!over) tell_failure(over.error(), writer_);
  answers_.close();
  wire_.finish();
  reading.join();
  return over;
}

void Sender::read_answers(MessageReader& reader) {
  for (bool is_wanted = true;;) {
    auto message = reader.next();
    if (!message) return answers_.end(std::move(message.error()));
    if (!*message) return answers_.end(std::nullopt);
    if (const auto* unkept = std::get_if<Unkept>(&**message)) {
      tally_.lose("the other end: " + unkept->reason);  // of no entry: it may come between any two messages
      continue;
    }
    is_wanted = is_wanted && answers_.give(std::move(**message));
  }
}

Status Sender::exchange() {
  for (;;) {
    while (may_announce()) UDTCAT_CHECK(announce_next());
    if (all_announced_ && unsettled_.empty()) break;
    if (answers_.empty()) UDTCAT_CHECK(writer_.flush());
    UDTCAT_TRY(const Message answer, answers_.take());
    UDTCAT_CHECK(handle(answer));
  }
  census_.reset();
  UDTCAT_CHECK(writer_.put(End{next_id_}));
  UDTCAT_CHECK(writer_.flush());
  return await_done();
}

bool Sender::may_announce() const {
  return !all_announced_ && unsettled_.size() < kMaxUnsettled &&
         (unsettled_.empty() || unsettled_bytes_ + kMaxBodyBytes <= kMaxUnsettledBytes);
}

Status Sender::announce_next() {
  auto item = source_.next();
  if (!item) {
    all_announced_ = true;
    return {};
  }
  return *item ? announce(std::move(**item), 1) : miss(item->error());
}

/// A name that cannot be announced: both ends are to know.
Status Sender::miss(const Error& error) {
  tally_.complain(error.message());
  return writer_.put(Missed{error.message()});
}

Status Sender::announce(SourceItem item, int attempt) {
  auto entry = entry_of(item);
  if (!entry) return miss(entry.error());
  if (!*entry) return {};
  const bool is_file = (*entry)->kind == EntryKind::file;
  if (is_file && (*entry)->may_be_linked) {
    linkable_[{item.visited.status.st_dev, item.visited.status.st_ino}] = {next_id_, item.path};
    if (manifest_ != nullptr) manifest_->expect_links_to(next_id_, item.path);
  }
  UDTCAT_TRY(const std::size_t body_bytes, writer_.put_entry(**entry));
  unsettled_bytes_ += body_bytes;
  unsettled_.emplace(next_id_,
                     Announced{std::move(item.place), std::move(**entry), body_bytes, item.visited.status, attempt});
  ++next_id_;
  return {};
}

/// returns  none: it is passed over
Result<std::optional<Entry>> Sender::entry_of(const SourceItem& item) const {
  const struct stat& status = item.visited.status;
  const auto& location = item.visited.location;
  if (S_ISSOCK(status.st_mode)) {
    ++tally_.passed_over;
    return std::nullopt;
  }
  Entry entry{.attributes = {}, .path = item.path, .stamp = {}, .target = {}};
  if (!files::is_entry_path(item.path))
    return fail(Errc::local_read_failed, "send " + location.shown(),
                item.path.starts_with(files::kPartsName)
                    ? "a transfer that was cut has left it; go on with that, or remove it"
                    : "its path is longer than 4096 bytes");
  UDTCAT_TRY(entry.attributes, files::read_attributes(location, status));
  switch (status.st_mode & S_IFMT) {
    case S_IFDIR:
      entry.kind = EntryKind::directory;
      return entry;
    case S_IFLNK: {
      entry.kind = EntryKind::symbolic_link;
      UDTCAT_TRY(entry.target, location.read_target());
      return entry;
    }
    case S_IFIFO:
      entry.kind = EntryKind::fifo;
      return entry;
    case S_IFCHR:
    case S_IFBLK:
      entry.kind = S_ISCHR(status.st_mode) ? EntryKind::character_device : EntryKind::block_device;
      entry.major = major(status.st_rdev);
      entry.minor = minor(status.st_rdev);
      return entry;
    default:
      as_file(item, entry);
      return entry;
  }
}

/// The first name of a file with several, or another of them.
void Sender::as_file(const SourceItem& item, Entry& entry) const {
  const struct stat& status = item.visited.status;
  const auto first = status.st_nlink > 1 ? linkable_.find({status.st_dev, status.st_ino}) : linkable_.end();
  if (first != linkable_.end() && first->second.path != item.path) {
    entry.kind = EntryKind::hard_link;
    entry.of = first->second.id;
    return;
  }
  entry.kind = EntryKind::file;
  entry.may_be_linked = status.st_nlink > 1;
  entry.size_bytes = static_cast<std::uint64_t>(status.st_size);
  entry.stamp = files::stamp_of(item.visited.location, status);
}

Status Sender::handle(const Message& answer) {
  if (const auto* refused = std::get_if<Refused>(&answer)) {
    if (refused->entry >= next_id_) return tl::unexpected(unexpected_answer());
    if (!unsettled_.contains(refused->entry)) {
      tally_.take_back_entry();
      if (manifest_ != nullptr) manifest_->spoil();  // a line of it may stand there already
    }
    tally_.complain("the other end: " + refused->reason);
    settle(refused->entry);
    return {};
  }
  if (const auto* have = std::get_if<Have>(&answer)) {
    if (!unsettled_.contains(have->entry)) return tl::unexpected(unexpected_answer());
    if (have->digest) tally_.bytes += unsettled_.at(have->entry).entry.size_bytes;
    UDTCAT_CHECK(prove(have->entry, have->digest));
    settle(have->entry);
    return {};
  }
  if (const auto* want = std::get_if<Want>(&answer)) return describe(want->entry, nullptr);
  const auto* hashes = std::get_if<Hashes>(&answer);
  if (hashes == nullptr) return tl::unexpected(unexpected_answer());
  const EntryId id = hashes->entry;
  const auto found = unsettled_.find(id);
  const std::uint64_t leaves = found == unsettled_.end() ? 0 : files::leaves_of(found->second.entry.size_bytes);
  UDTCAT_TRY(Comparison comparison, Comparison::begin(answers_, *hashes, leaves));
  UDTCAT_CHECK(describe(id, &comparison));
  return comparison.drain();
}

/// comparison   null: the receiver has nothing of it
Status Sender::describe(EntryId id, Comparison* comparison) {
  const auto found = unsettled_.find(id);
  if (found == unsettled_.end() || found->second.entry.kind != EntryKind::file)
    return tl::unexpected(unexpected_answer());
  const Announced& announced = found->second;
  const std::string path = announced.entry.path;
  tally_.begin_file(path);
  const std::uint64_t bytes_before = tally_.bytes;  // this thread's alone
  const auto give_up = [&](const std::string& reason, bool has_changed) {
    tally_.bytes = bytes_before;
    return drop(id, reason, has_changed);
  };
  const auto changed = [&] { return give_up(fmt::format("read {}: it has changed meanwhile", path), true); };
  const auto file = source_.open(announced.place);
  if (!file) return give_up(file.error().message(), false);
  std::ignore = ::posix_fadvise(file->number(), 0, 0, POSIX_FADV_SEQUENTIAL);  // advice
  struct stat status {};
  const auto is_as_announced = [&] {
    return ::fstat(file->number(), &status) == 0 && files::is_same_state(status, announced.status);
  };
  if (!is_as_announced()) return changed();
  const Described described{id, announced.entry.size_bytes, *file, path,
                            [this] { return answers_.failure() || writer_.is_cut(); }};
  const auto digest = describe_leaves(described, comparison, writer_, leaf_, tally_);
  if (!digest && digest.error().code == Errc::local_read_failed)
    return is_as_announced() ? give_up(digest.error().message(), false) : changed();
  if (!digest) return tl::unexpected(digest.error());
  if (!is_as_announced()) return changed();
  UDTCAT_CHECK(writer_.put(Whole{id, *digest}));
  UDTCAT_CHECK(prove(id, *digest));
  settle(id);
  return {};
}

/// The file cannot be sent as it was announced; one that has changed is announced again.
Status Sender::drop(EntryId id, std::string reason, bool has_changed) {
  const Announced dropped = std::move(unsettled_.find(id)->second);
  unsettled_bytes_ -= dropped.body_bytes;
  unsettled_.erase(id);
  Result<std::optional<files::Visited>> now = std::nullopt;
  if (has_changed) now = source_.look(dropped.place);
  if (has_changed && now && !*now) reason = fmt::format("read {}: it has gone meanwhile", dropped.entry.path);
  UDTCAT_CHECK(writer_.put(Dropped{id, reason}));
  if (now && *now && dropped.attempt < kMaxAttempts)
    return announce({dropped.entry.path, dropped.place, std::move(**now)}, dropped.attempt + 1);
  tally_.complain(reason);
  return {};
}

void Sender::settle(EntryId id) {
  const auto found = unsettled_.find(id);
  if (found == unsettled_.end()) return;
  unsettled_bytes_ -= found->second.body_bytes;
  unsettled_.erase(found);
}

/// It stands at the receiver, or will when that is done.
Status Sender::prove(EntryId id, const std::optional<files::Digest>& digest) {
  const Entry& entry = unsettled_.at(id).entry;
  if ((entry.kind == EntryKind::file) != digest.has_value()) return tl::unexpected(unexpected_answer());
  ++tally_.entries;
  if (entry.kind == EntryKind::file) ++tally_.files;
  return manifest_ != nullptr ? manifest_->add(entry, digest) : Status();
}

Status Sender::await_done() {
  for (;;) {
    UDTCAT_TRY(const Message answer, answers_.take());
    if (const auto* done = std::get_if<Done>(&answer))
      return done->entries == next_id_ ? Status() : tl::unexpected(unexpected_answer());
    if (!std::holds_alternative<Refused>(answer)) return tl::unexpected(unexpected_answer());
    UDTCAT_CHECK(handle(answer));
  }
}

}  // namespace udtcat::trees
