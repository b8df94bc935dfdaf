// SPDX-License-Identifier: Apache-2.0
#include "trees/receiver.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <tuple>
#include <utility>

#include "lib/core/log.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"
#include "trees/start_thread.hpp"

namespace udtcat::trees {

namespace {

constexpr std::size_t kMaxDropped = 1024;  // guess: files that change at a time; more are named at once

constexpr std::chrono::milliseconds kLookForLock{100};  // guess: a transfer that is cut ends within a chunk

constexpr std::size_t kMinLooks = 16'384;  // guess: within a second; more where the transfer has looked at more

Error of_sender(const char* cause) { return {Errc::protocol_violated, "take what the sender says", cause}; }

}  // namespace

Result<std::unique_ptr<Receiver>> Receiver::make(ReceiverOptions options, BlockingStream& stream, ManifestLog* manifest,
                                                 TransferCounters& counters) {
  UDTCAT_TRY(auto top, TopDirectory::open(options.tree));
  const auto waits = [&, may_wait = options.waits] { return may_wait && !stream.wait_cut(kLookForLock); };
  UDTCAT_TRY(auto parts, PartialFiles::open(options.tree, options.job, waits));
  return std::unique_ptr<Receiver>(
      new Receiver(std::move(top), std::move(options), std::move(parts), stream, manifest, counters));
}

Status Receiver::run(MessageReader& reader, const std::optional<Hello>& hello) {
  committer_.emplace(state_);
  std::thread planning;
  Status over = committer_->start();
  if (over) over = start_thread(planning, [&] { plan_entries(); });
  if (over && hello) over = state_.writer().put(*hello);
  if (over) over = state_.writer().flush();
  if (over) over = receive(reader);
  if (!over && is_of_limit(over.error())) committer_->finish();
  if (!over) state_.fail(over.error());
  complain_of_dropped();
  entries_.close();
  if (planning.joinable()) planning.join();
  committer_->stop();
  if (!is_done_) save_cache();
  if (!is_done_) state_.parts().tidy();
  if (is_done_) {  // else ReceiverState::fail() has ended the stream
    stream_.finish();
    stream_.cut_unless_ended(BlockingStream::kLastPatience);
  }
  reader.drain();
  if (const auto failure = state_.failure()) return tl::unexpected(*failure);
  return {};
}

void Receiver::plan_entries() {
  while (auto numbered = entries_.pop()) {
    if (!state_.has_failed()) planner_.plan(std::move(*numbered));
    if (!state_.has_failed()) state_.tell_many_refusals();
    if (!entries_.empty()) continue;
    if (auto flushed = state_.writer().flush(); !flushed) state_.fail(flushed.error());
  }
}

Status Receiver::receive(MessageReader& reader) {
  while (!is_done_) {
    UDTCAT_TRY(auto message, reader.next());
    if (const auto failure = state_.failure()) return tl::unexpected(*failure);
    if (!message)
      return fail(Errc::protocol_violated, "take what the sender says", "it has ended before its last word");
    UDTCAT_CHECK(take(*message, reader.body_bytes()));
  }
  return {};
}

Status Receiver::take(Message& message, std::size_t body_bytes) {
  if (const auto* data = std::get_if<Data>(&message)) return take_chunks(*data, 1);
  if (const auto* zeros = std::get_if<Zeros>(&message)) return take_chunks(*zeros, zeros->count);
  if (const auto* copy = std::get_if<CopyChunks>(&message)) return take_chunks(*copy, copy->count);
  if (auto* entry = std::get_if<Entry>(&message)) return take_entry(std::move(*entry), body_bytes);
  if (const auto* done = std::get_if<FileDone>(&message)) return take_file_done(*done);
  if (const auto* dropped = std::get_if<Dropped>(&message)) return take_dropped(*dropped);
  if (const auto* end = std::get_if<End>(&message)) return complete(*end);
  if (const auto* failed = std::get_if<Failed>(&message)) return tl::unexpected(error_of(*failed));
  if (const auto* missed = std::get_if<Missed>(&message)) {
    state_.counters().complain("the other end: " + missed->reason);
    return {};
  }
  if (const auto* totals = std::get_if<Totals>(&message)) {
    state_.counters().all_entries = totals->entries;
    state_.counters().all_bytes = totals->bytes;
    return {};
  }
  return tl::unexpected(of_sender("it is no message of a sender"));
}

Status Receiver::take_entry(Entry entry, std::size_t body_bytes) {
  const auto& asked = state_.options().asked;
  if (asked && !asked->contains(entry.path.substr(0, entry.path.find('/'))))
    return fail(Errc::protocol_violated, "take " + core::printable(entry.path, core::kShownBytes),
                "it was not asked for");
  UDTCAT_CHECK(state_.announce(body_bytes));
  state_.counters().add_name(std::string_view(entry.path).substr(0, entry.path.find('/')));
  dropped_.erase(entry.path);  // announced again: what becomes of it now counts
  std::ignore = entries_.push({next_id_++, std::move(entry), body_bytes});  // closed by this thread alone
  return {};
}

/// Makes the file the current one.
Status Receiver::make_current(EntryId id) {
  if (current_ && current_->id == id) return {};
  if (current_) return tl::unexpected(of_sender("it sends two files at a time"));
  auto expected = state_.take_expected(id);
  if (!expected) return tl::unexpected(of_sender("it sends a file that nobody asked for"));
  // The committer may still hold a part for this path, which would be overwritten.
  if (committer_->is_pending(expected->entry.path)) committer_->finish();
  state_.counters().begin_file(expected->entry.path);
  current_.emplace(Current{
      id, expected->body_bytes,
      IncomingFile(destination_, std::move(expected->entry), std::move(expected->basis), state_.options().is_sealed)});
  return {};
}

template <typename Chunks>
Status Receiver::take_chunks(const Chunks& chunks, std::uint64_t count) {
  UDTCAT_CHECK(make_current(chunks.entry));
  if (current_->is_given_up) return {};
  UDTCAT_CHECK(refuse_or_fail(current_->file.take(chunks)));
  if (current_->is_given_up) return {};
  const std::uint64_t bytes = range_of_chunks(current_->file.entry().size_bytes, chunks.chunk, count).bytes();
  current_->sent_bytes += bytes;
  state_.counters().bytes += bytes;
  if constexpr (std::is_same_v<Chunks, Data>)
    for (const Extent& extent : chunks.extents) state_.counters().moved_bytes += extent.bytes.size();
  return {};
}

Status Receiver::take_file_done(const FileDone& done) {
  UDTCAT_CHECK(make_current(done.entry));
  if (!current_->is_given_up) UDTCAT_CHECK(refuse_or_fail(current_->file.take(done)));
  if (!current_->is_given_up)
    committer_->add({done.entry, current_->file.entry(), done.digest, done.fingerprint, current_->file.state()});
  acknowledge_current();
  return {};
}

Status Receiver::take_dropped(const Dropped& dropped) {
  UDTCAT_CHECK(make_current(dropped.entry));
  core::log().info("{}: {}", current_->file.entry().path, dropped.reason);
  state_.forbid_links_to(dropped.entry, current_->file.entry());
  state_.counters().bytes -= current_->sent_bytes;
  const std::string complaint = "the other end: " + dropped.reason;
  if (dropped_.size() < kMaxDropped)
    dropped_.insert_or_assign(current_->file.entry().path, complaint);
  else
    state_.counters().complain(complaint);
  acknowledge_current();
  return {};
}

/// Reports the files that the sender has dropped and not announced again.
void Receiver::complain_of_dropped() {
  for (const auto& [path, complaint] : std::exchange(dropped_, {})) state_.counters().complain(complaint);
}

/// An error of the current file alone refuses that, and the rest of its chunks is skipped.
Status Receiver::refuse_or_fail(const ScopedStatus& taken) {
  if (taken) return {};
  if (!taken.error().is_of_name) return tl::unexpected(taken.error().error);
  current_->is_given_up = true;
  state_.forbid_links_to(current_->id, current_->file.entry());
  state_.refuse(current_->id, taken.error().message(), ReceiverState::When::later);
  return {};
}

void Receiver::acknowledge_current() {
  state_.acknowledge(current_->body_bytes);
  current_.reset();
}

Status Receiver::complete(const End& end) {
  entries_.wait_until_idle();
  if (end.entries != next_id_ || !state_.all_acknowledged() || current_)
    return tl::unexpected(of_sender("it ends before all is acknowledged"));
  committer_->finish();
  if (const auto failure = state_.failure()) return tl::unexpected(*failure);
  complain_of_dropped();
  UDTCAT_CHECK(make_links());
  state_.parts().remove();
  set_directories();
  UDTCAT_CHECK(destination_.sync());
  state_.verified_files().forget_what_is_gone(destination_, kMinLooks + state_.counters().entries);
  save_cache();
  state_.tell_refusals();
  UDTCAT_CHECK(state_.writer().put(Done{next_id_}));
  UDTCAT_CHECK(state_.writer().flush());
  is_done_ = true;
  return {};
}

/// Refuses an entry that was acknowledged.
void Receiver::refuse_after_all(EntryId id, const Error& error) {
  state_.spoil_manifest();
  state_.counters().take_back_entry();
  state_.refuse(id, error.message(), ReceiverState::When::later);
  state_.tell_many_refusals();  // this thread may wait here: the sender has said END
}

ScopedStatus Receiver::make_link(const Planner::Link& link) {
  const std::string path = planner_.paths().path(link.path);
  const std::string of = planner_.path_of(link.of);
  const auto file = state_.link_target(link.of);
  if (!file || state_.forbids_links_to(link.of))
    return of_name(fail(Errc::local_write_failed, "link " + destination_.tree().shown(path), of + " is missing"));
  return destination_.make_hard_link(path, of, *file);
}

Status Receiver::make_links() {
  for (const auto& link : planner_.links()) {
    const auto made = make_link(link);
    if (!made && !made.error().is_of_name) return tl::unexpected(made.error().error);
    if (!made) refuse_after_all(link.id, made.error().error);
  }
  return {};
}

/// Inner directories come first, since a change in a directory changes its time.
void Receiver::set_directories() {
  const auto& all = planner_.directories();
  for (auto directory = all.rbegin(); directory != all.rend(); ++directory) {
    const std::string path = planner_.paths().path(directory->path);
    Attributes attributes = directory->attributes;
    if (path == ".") {
      const auto own_mode = state_.options().keeps_owners ? std::nullopt : top_.own_mode(state_.options().home);
      attributes.mode = own_mode.value_or(attributes.mode);
    }
    attributes.mode = destination_.mode_to_give(path, attributes.mode, directory->device);
    struct stat made {};
    made.st_dev = directory->device;
    made.st_ino = directory->inode;
    const auto set = destination_.set_directory(path, attributes, made);
    if (!set) refuse_after_all(directory->id, set.error().error);
    if (set && path == ".") top_.keep_mode(attributes.mode);
  }
}

void Receiver::save_cache() {
  if (!state_.options().cache) return;
  VerifiedFiles& files = state_.verified_files();
  const auto later = files.note(committer_->verified(), destination_);
  if (!later.empty() && !state_.should_stop()) {
    state_.pause(kLately);
    std::ignore = files.note(later, destination_);  // those that are still too young are hashed the next time
  }
  files.save();
}

}  // namespace udtcat::trees
