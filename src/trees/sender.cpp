// SPDX-License-Identifier: Apache-2.0
#include "trees/sender.hpp"

#include <thread>
#include <tuple>

#include <fmt/format.h>

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
  // The size scan sends TOTALS, which come behind HELLO.
  if (over && counts_)
    size_scan_.emplace(source_, [this](const Totals& totals) {
      counters_.all_entries = totals.entries;
      counters_.all_bytes = totals.bytes;
      std::ignore = writer_.put(totals);  // the next write that matters reports a broken stream
    });
  if (over) over = exchange();
  // A receiver that has failed says why; the stream that breaks then says only that it did.
  if (!over && receiver_failed_) over = tl::unexpected(answers_.pop().error());
  stream_.cut_unless_ended(over ? BlockingStream::kLastPatience : BlockingStream::kEndPatience);
  size_scan_.reset();  // cut_unless_ended() ends its put()
  if (!over) tell_failure(over.error(), writer_);
  answers_.close();
  stream_.finish();
  if (reading.joinable())
    reading.join();
  else
    reader.drain();
  return over;
}

std::size_t Sender::cost_of(const Message& answer) {
  const auto* hashes = std::get_if<Hashes>(&answer);
  return hashes == nullptr ? 1 : 1 + hashes->digests.size() / kDigestsOfAnswer;
}

void Sender::read_answers(MessageReader& reader) {
  for (bool is_wanted = true;;) {
    auto message = reader.next();
    if (!message) return answers_.close(std::move(message.error()));
    if (!*message)
      return answers_.close({Errc::protocol_violated, "read the receiver's answers", "it has ended before its last"});
    if (const auto* not_stored = std::get_if<NotStored>(&**message)) {
      counters_.lose("the other end: " + not_stored->reason);  // of no entry: it may come between any two messages
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
    if (all_announced_ && unacknowledged_.empty()) break;
    if (answers_.empty()) UDTCAT_CHECK(writer_.flush());
    UDTCAT_TRY(const Message answer, answers_.pop());
    UDTCAT_CHECK(handle(answer));
  }
  size_scan_.reset();
  UDTCAT_CHECK(writer_.put(End{next_id_}));
  UDTCAT_CHECK(writer_.flush());
  return await_done();
}

bool Sender::may_announce() const {
  return !all_announced_ && unacknowledged_.size() < kMaxUnacknowledged &&
         (unacknowledged_.empty() || unacknowledged_bytes_ + kMaxBodyBytes <= kMaxUnacknowledgedBytes);
}

Status Sender::announce_next() {
  auto item = source_.next();
  if (!item) {
    all_announced_ = true;
    return {};
  }
  return *item ? announce(std::move(**item), 1) : miss(item->error());
}

/// Reports a name that cannot be announced, at both ends.
Status Sender::miss(const NameError& name) {
  counters_.complain(name.message());
  return writer_.put(Missed{name.message()});
}

Status Sender::announce(SourceItem item, int attempt) {
  auto entry = entries_.read(item);
  if (!entry) return miss(entry.error());
  if (!*entry) {
    ++counters_.passed_over;
    return {};
  }
  const bool is_file = (*entry)->kind == EntryKind::file;
  if (is_file && (*entry)->may_be_linked) {
    if (const auto remembered = entries_.remember(item, next_id_); !remembered) return miss(remembered.error());
    if (manifest_ != nullptr) manifest_->expect_links_to(next_id_, item.path);
  }
  UDTCAT_TRY(const std::size_t body_bytes, writer_.put_entry(**entry));
  unacknowledged_bytes_ += body_bytes;
  unacknowledged_.emplace(
      next_id_, Announced{std::move(item.source_name), std::move(**entry), body_bytes, item.visited.status, attempt});
  ++next_id_;
  return {};
}

Status Sender::handle(const Message& answer) {
  if (const auto* refused = std::get_if<Refused>(&answer)) {
    if (refused->entry >= next_id_) return tl::unexpected(unexpected_answer());
    if (!unacknowledged_.contains(refused->entry)) {
      counters_.take_back_entry();
      if (manifest_ != nullptr) manifest_->spoil();  // it may have a line of this entry
    }
    counters_.complain("the other end: " + refused->reason);
    acknowledge(refused->entry);
    return {};
  }
  if (const auto* done = std::get_if<UpToDate>(&answer)) {
    if (!unacknowledged_.contains(done->entry)) return tl::unexpected(unexpected_answer());
    if (done->digest) counters_.bytes += unacknowledged_.at(done->entry).entry.size_bytes;
    UDTCAT_CHECK(record(done->entry, done->digest));
    acknowledge(done->entry);
    return {};
  }
  if (const auto* want = std::get_if<Want>(&answer)) return send_file(want->entry, nullptr);
  const auto* hashes = std::get_if<Hashes>(&answer);
  if (hashes == nullptr) return tl::unexpected(unexpected_answer());
  const EntryId id = hashes->entry;
  const auto found = unacknowledged_.find(id);
  const std::uint64_t chunks = found == unacknowledged_.end() ? 0 : chunks_of(found->second.entry.size_bytes);
  UDTCAT_TRY(RemoteHashes remote_hashes, RemoteHashes::begin(answers_, *hashes, chunks));
  UDTCAT_CHECK(send_file(id, &remote_hashes));
  return remote_hashes.drain();
}

/// remote_hashes   null: the receiver has nothing of it
Status Sender::send_file(EntryId id, RemoteHashes* remote_hashes) {
  const auto found = unacknowledged_.find(id);
  if (found == unacknowledged_.end() || found->second.entry.kind != EntryKind::file)
    return tl::unexpected(unexpected_answer());
  const Announced& announced = found->second;
  const std::string path = announced.entry.path;
  counters_.begin_file(path);
  const std::uint64_t bytes_before = counters_.bytes;  // this thread's alone
  const auto give_up = [&](const std::string& reason, bool has_changed) {
    counters_.bytes = bytes_before;
    return drop(id, reason, has_changed);
  };
  const auto changed = [&] { return give_up(fmt::format("read {}: it has changed meanwhile", path), true); };
  auto file = source_.open(announced.source_name);
  auto location = source_.locate(announced.source_name);
  if (!file || !location) return give_up((file ? location.error() : file.error()).message(), false);
  WatchedFile watched(std::move(*location), std::move(*file), {announced.status, announced.entry.fingerprint},
                      [this](std::chrono::nanoseconds time) { answers_.wait_closed(time); });
  if (!watched.is_as_announced()) return changed();
  const FileContents contents{id, announced.entry.size_bytes, watched.file(), path,
                              [this] { return receiver_failed_ || writer_.is_cut(); }};
  const auto digest = send_contents(contents, remote_hashes, writer_, chunk_, counters_);
  const auto unchanged = digest ? is_unchanged(announced, watched, contents, *digest) : tl::unexpected(digest.error());
  if (!unchanged && unchanged.error().is_of_name)
    return watched.keeps_content() ? give_up(unchanged.error().message(), false) : changed();
  if (!unchanged) return tl::unexpected(unchanged.error().error);
  if (!*unchanged) return changed();
  UDTCAT_CHECK(writer_.put(FileDone{id, *digest, watched.fingerprint()}));
  UDTCAT_CHECK(record(id, *digest));
  acknowledge(id);
  return {};
}

/// Whether the file that was just read is the one that was announced, content and attributes.
/// errors: as send_contents()
ScopedResult<bool> Sender::is_unchanged(const Announced& announced, WatchedFile& watched, const FileContents& contents,
                                        const files::Digest& digest) {
  const auto after = watched.look_again();
  if (after == WatchedFile::Seen::other_content) return false;
  if (!watched.keeps_state() &&
      !entries_.still_has(announced.source_name, announced.status, announced.entry.attributes))
    return false;
  if (after == WatchedFile::Seen::same) return true;
  UDTCAT_TRY(const auto again, hash_contents(contents, chunk_));
  return again == digest && watched.keeps_content();
}

/// The file cannot be sent as it was announced; one that has changed is announced again.
Status Sender::drop(EntryId id, std::string reason, bool has_changed) {
  const Announced dropped = std::move(unacknowledged_.find(id)->second);
  unacknowledged_bytes_ -= dropped.body_bytes;
  unacknowledged_.erase(id);
  entries_.forget(dropped.status, id);
  NameResult<std::optional<Visited>> now = std::nullopt;
  if (has_changed) now = source_.look(dropped.source_name);
  // The walk has passed this name, and would not enter a directory there.
  const bool can_come = now && *now && !S_ISDIR((*now)->status.st_mode) && !S_ISSOCK((*now)->status.st_mode);
  if (now && *now && !can_come) reason = fmt::format("read {}: it is no file any more", dropped.entry.path);
  if (has_changed && now && !*now) reason = fmt::format("read {}: it has gone meanwhile", dropped.entry.path);
  UDTCAT_CHECK(writer_.put(Dropped{id, reason}));
  if (can_come && dropped.attempt < kMaxAttempts)
    return announce({dropped.entry.path, dropped.source_name, std::move(**now)}, dropped.attempt + 1);
  counters_.complain(reason);
  return {};
}

void Sender::acknowledge(EntryId id) {
  const auto found = unacknowledged_.find(id);
  if (found == unacknowledged_.end()) return;
  unacknowledged_bytes_ -= found->second.body_bytes;
  unacknowledged_.erase(found);
}

/// Counts an entry that the receiver has, or will have when it answers DONE, and adds it to the manifest.
Status Sender::record(EntryId id, const std::optional<files::Digest>& digest) {
  const Entry& entry = unacknowledged_.at(id).entry;
  if ((entry.kind == EntryKind::file) != digest.has_value()) return tl::unexpected(unexpected_answer());
  ++counters_.entries;
  if (entry.kind == EntryKind::file) ++counters_.files;
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
