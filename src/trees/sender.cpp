// SPDX-License-Identifier: Apache-2.0
#include "trees/sender.hpp"

#include <thread>
#include <tuple>

#include <fmt/format.h>
#include <sys/stat.h>

#include "lib/core/try.hpp"
#include "trees/start_thread.hpp"

namespace udtcat::trees {

namespace {

constexpr int kMaxAttempts = 3;  // guess: a file that changes at each of these is one that is being written

Error unexpected_answer() {
  return {Errc::protocol_violated, "read the receiver's answer", "it is none to what was announced"};
}

}  // namespace

Status Sender::run(MessageReader& reader, const std::optional<Hello>& hello) {
  std::thread reading;
  Status over = start_thread(reading, [&] { read_answers(reader); });
  if (over && hello) over = writer_.put(*hello);
  // The census has words for the other end, too, which come behind the first one.
  if (over && counts_)
    census_.emplace(source_, [this](const Totals& totals) {
      tally_.all_entries = totals.entries;
      tally_.all_bytes = totals.bytes;
      std::ignore = writer_.put(totals);  // a wire that is broken is found by those who need it
    });
  if (over) over = exchange();
  // A receiver that has failed says why; the wire that breaks then says only that it did.
  if (!over && receiver_failed_) over = tl::unexpected(answers_.pop().error());
  wire_.cut_unless_ended(over ? Wire::kLastPatience : Wire::kEndPatience);
  census_.reset();  // which may wait for room
  if (!over) tell_failure(over.error(), writer_);
  answers_.close();
  wire_.finish();
  if (reading.joinable())
    reading.join();
  else
    reader.drain();
  return over;
}

std::size_t Sender::weight_of(const Message& answer) {
  const auto* hashes = std::get_if<Hashes>(&answer);
  return hashes == nullptr ? 1 : 1 + hashes->digests.size() / kDigestsOfAnswer;
}

void Sender::read_answers(MessageReader& reader) {
  for (bool is_wanted = true;;) {
    auto message = reader.next();
    if (!message) return answers_.close(std::move(message.error()));
    if (!*message)
      return answers_.close({Errc::protocol_violated, "read the receiver's answers", "it has ended before its last"});
    if (const auto* unkept = std::get_if<Unkept>(&**message)) {
      tally_.lose("the other end: " + unkept->reason);  // of no entry: it may come between any two messages
      continue;
    }
    if (const auto* failed = std::get_if<Failed>(&**message)) {
      answers_.close_now(error_of(*failed));
      receiver_failed_ = true;
    }
    is_wanted = is_wanted && answers_.push(std::move(**message));
  }
}

Status Sender::exchange() {
  for (;;) {
    while (may_announce()) UDTCAT_CHECK(announce_next());
    if (all_announced_ && unsettled_.empty()) break;
    if (answers_.empty()) UDTCAT_CHECK(writer_.flush());
    UDTCAT_TRY(const Message answer, answers_.pop());
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
Status Sender::miss(const NameError& name) {
  tally_.complain(name.message());
  return writer_.put(Missed{name.message()});
}

Status Sender::announce(SourceItem item, int attempt) {
  auto entry = entries_.read(item);
  if (!entry) return miss(entry.error());
  if (!*entry) {
    ++tally_.passed_over;
    return {};
  }
  const bool is_file = (*entry)->kind == EntryKind::file;
  if (is_file && (*entry)->may_be_linked) {
    entries_.remember(item, next_id_);
    if (manifest_ != nullptr) manifest_->expect_links_to(next_id_, item.path);
  }
  UDTCAT_TRY(const std::size_t body_bytes, writer_.put_entry(**entry));
  unsettled_bytes_ += body_bytes;
  unsettled_.emplace(next_id_,
                     Announced{std::move(item.place), std::move(**entry), body_bytes, item.visited.status, attempt});
  ++next_id_;
  return {};
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
  const std::uint64_t leaves = found == unsettled_.end() ? 0 : leaves_of(found->second.entry.size_bytes);
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
  auto file = source_.open(announced.place);
  auto location = source_.locate(announced.place);
  if (!file || !location) return give_up((file ? location.error() : file.error()).message(), false);
  WatchedFile watched(std::move(*location), std::move(*file), {announced.status, announced.entry.stamp},
                      [this](std::chrono::nanoseconds time) { answers_.wait_closed(time); });
  if (!watched.is_as_announced()) return changed();
  const Described described{id, announced.entry.size_bytes, watched.file(), path,
                            [this] { return receiver_failed_ || writer_.is_cut(); }};
  const auto digest = describe_leaves(described, comparison, writer_, leaf_, tally_);
  const auto is_there = digest ? stands(announced, watched, described, *digest) : tl::unexpected(digest.error());
  if (!is_there && is_there.error().is_of_name)
    return watched.keeps_content() ? give_up(is_there.error().message(), false) : changed();
  if (!is_there) return tl::unexpected(is_there.error().error);
  if (!*is_there) return changed();
  UDTCAT_CHECK(writer_.put(Whole{id, *digest, watched.stamp()}));
  UDTCAT_CHECK(prove(id, *digest));
  settle(id);
  return {};
}

/// Whether the file that was just read is the one that was announced, content and attributes.
/// errors: as describe_leaves()
ScopedResult<bool> Sender::stands(const Announced& announced, WatchedFile& watched, const Described& described,
                                  const files::Digest& digest) {
  const auto after = watched.look_again();
  if (after == WatchedFile::Seen::other_content) return false;
  if (!watched.keeps_state() && !entries_.still_has(announced.place, announced.status, announced.entry.attributes))
    return false;
  if (after == WatchedFile::Seen::same) return true;
  UDTCAT_TRY(const auto again, hash_leaves_of(described, leaf_));
  return again == digest && watched.keeps_content();
}

/// The file cannot be sent as it was announced; one that has changed is announced again.
Status Sender::drop(EntryId id, std::string reason, bool has_changed) {
  const Announced dropped = std::move(unsettled_.find(id)->second);
  unsettled_bytes_ -= dropped.body_bytes;
  unsettled_.erase(id);
  entries_.forget(dropped.status, id);
  NameResult<std::optional<Visited>> now = std::nullopt;
  if (has_changed) now = source_.look(dropped.place);
  // The walk would not go into a directory any more.
  const bool can_come = now && *now && !S_ISDIR((*now)->status.st_mode) && !S_ISSOCK((*now)->status.st_mode);
  if (now && *now && !can_come) reason = fmt::format("read {}: it is no file any more", dropped.entry.path);
  if (has_changed && now && !*now) reason = fmt::format("read {}: it has gone meanwhile", dropped.entry.path);
  UDTCAT_CHECK(writer_.put(Dropped{id, reason}));
  if (can_come && dropped.attempt < kMaxAttempts)
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
    UDTCAT_TRY(const Message answer, answers_.pop());
    if (const auto* done = std::get_if<Done>(&answer))
      return done->entries == next_id_ ? Status() : tl::unexpected(unexpected_answer());
    if (!std::holds_alternative<Refused>(answer)) return tl::unexpected(unexpected_answer());
    UDTCAT_CHECK(handle(answer));
  }
}

}  // namespace udtcat::trees
