// SPDX-License-Identifier: Apache-2.0
#include "trees/receiver.hpp"

#include <algorithm>
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

constexpr std::size_t kMinLooks = 16'384;  // guess: within a second; more where the transfer has looked at more

Error of_sender(const char* cause) { return {Errc::protocol_violated, "take what the sender says", cause}; }

}  // namespace

Result<std::unique_ptr<Receiver>> Receiver::make(ReceiverOptions options, Wire& wire, ManifestLog* manifest,
                                                 Tally& tally) {
  UDTCAT_TRY(auto top, TopDirectory::open(options.tree));
  UDTCAT_TRY(auto parts, Parts::open(options.tree, options.job, options.held));
  return std::unique_ptr<Receiver>(
      new Receiver(std::move(top), std::move(options), std::move(parts), wire, manifest, tally));
}

Status Receiver::run(MessageReader& reader, const std::optional<Hello>& hello) {
  committer_.emplace(reception_);
  std::thread judging;
  Status over = committer_->start();
  if (over) over = start_thread(judging, [&] { judge_entries(); });
  if (over && hello) over = reception_.writer().put(*hello);
  if (over) over = reception_.writer().flush();
  if (over) over = receive(reader);
  if (!over) reception_.fail(over.error());
  complain_of_dropped();
  entries_.close();
  if (judging.joinable()) judging.join();
  committer_->stop();
  if (!is_done_) write_book();
  if (!is_done_) reception_.parts().tidy();
  if (is_done_) {  // else it has ended with the failure
    wire_.finish();
    wire_.cut_unless_ended(Wire::kLastPatience);
  }
  reader.drain();
  if (const auto failure = reception_.failure()) return tl::unexpected(*failure);
  return {};
}

void Receiver::judge_entries() {
  while (auto numbered = entries_.pop()) {
    if (!reception_.has_failed()) judge_.judge(std::move(*numbered));
    if (!reception_.has_failed()) reception_.tell_many_refusals();
    if (!entries_.empty()) continue;
    if (auto flushed = reception_.writer().flush(); !flushed) reception_.fail(flushed.error());
  }
}

Status Receiver::receive(MessageReader& reader) {
  while (!is_done_) {
    UDTCAT_TRY(auto message, reader.next());
    if (const auto failure = reception_.failure()) return tl::unexpected(*failure);
    if (!message)
      return fail(Errc::protocol_violated, "take what the sender says", "it has ended before its last word");
    UDTCAT_CHECK(take(*message, reader.body_bytes()));
  }
  return {};
}

Status Receiver::take(Message& message, std::size_t body_bytes) {
  if (const auto* data = std::get_if<Data>(&message)) return take_leaves(*data, 1);
  if (const auto* zeros = std::get_if<Zeros>(&message)) return take_leaves(*zeros, zeros->count);
  if (const auto* same = std::get_if<Same>(&message)) return take_leaves(*same, same->count);
  if (auto* entry = std::get_if<Entry>(&message)) return take_entry(std::move(*entry), body_bytes);
  if (const auto* whole = std::get_if<Whole>(&message)) return take_whole(*whole);
  if (const auto* dropped = std::get_if<Dropped>(&message)) return take_dropped(*dropped);
  if (const auto* end = std::get_if<End>(&message)) return complete(*end);
  if (const auto* failed = std::get_if<Failed>(&message)) return tl::unexpected(error_of(*failed));
  if (const auto* missed = std::get_if<Missed>(&message)) {
    reception_.tally().complain("the other end: " + missed->reason);
    return {};
  }
  if (const auto* totals = std::get_if<Totals>(&message)) {
    reception_.tally().all_entries = totals->entries;
    reception_.tally().all_bytes = totals->bytes;
    return {};
  }
  return tl::unexpected(of_sender("it is no sender's word"));
}

Status Receiver::take_entry(Entry entry, std::size_t body_bytes) {
  const auto& asked = reception_.options().asked;
  if (asked && !asked->contains(entry.path.substr(0, entry.path.find('/'))))
    return fail(Errc::protocol_violated, "take " + core::printable(entry.path, core::kShownBytes),
                "it was not asked for");
  UDTCAT_CHECK(reception_.announce(body_bytes));
  dropped_.erase(entry.path);  // it comes again, and what becomes of it now is what counts
  std::ignore = entries_.push({next_id_++, std::move(entry), body_bytes});  // closed by this thread alone
  return {};
}

/// Makes the file the current one.
Status Receiver::make_current(EntryId id) {
  if (current_ && current_->id == id) return {};
  if (current_) return tl::unexpected(of_sender("it describes two files at a time"));
  auto expected = reception_.take_expected(id);
  if (!expected) return tl::unexpected(of_sender("it describes what nobody asked for"));
  // Its part is not to be another's, which waits for the same name.
  if (committer_->is_pending(expected->entry.path)) committer_->finish();
  reception_.tally().begin_file(expected->entry.path);
  current_.emplace(Current{id, expected->body_bytes,
                           IncomingFile(destination_, std::move(expected->entry), std::move(expected->candidate),
                                        reception_.options().is_sealed)});
  return {};
}

template <typename Leaves>
Status Receiver::take_leaves(const Leaves& leaves, std::uint64_t count) {
  UDTCAT_CHECK(make_current(leaves.entry));
  if (current_->is_given_up) return {};
  const auto taken = current_->file.take(leaves);
  if (!taken && !taken.error().is_of_name) return tl::unexpected(taken.error().error);
  if (!taken) {
    give_up(taken.error().error);
    return {};
  }
  const std::uint64_t bytes = range_of_leaves(current_->file.entry().size_bytes, leaves.leaf, count).bytes();
  current_->described_bytes += bytes;
  reception_.tally().bytes += bytes;
  if constexpr (std::is_same_v<Leaves, Data>)
    for (const Extent& extent : leaves.extents) reception_.tally().moved_bytes += extent.bytes.size();
  return {};
}

Status Receiver::take_whole(const Whole& whole) {
  UDTCAT_CHECK(make_current(whole.entry));
  const auto taken = current_->is_given_up ? ScopedStatus() : current_->file.take(whole);
  if (!taken && !taken.error().is_of_name) return tl::unexpected(taken.error().error);
  if (!taken) give_up(taken.error().error);
  if (!current_->is_given_up)
    committer_->add({whole.entry, current_->file.entry(), whole.digest, whole.stamp, current_->file.state()});
  settle_current();
  return {};
}

Status Receiver::take_dropped(const Dropped& dropped) {
  UDTCAT_CHECK(make_current(dropped.entry));
  core::log().info("{}: {}", current_->file.entry().path, dropped.reason);
  reception_.forbid_links_to(dropped.entry, current_->file.entry());
  reception_.tally().bytes -= current_->described_bytes;
  const std::string complaint = "the other end: " + dropped.reason;
  if (dropped_.size() < kMaxDropped)
    dropped_.insert_or_assign(current_->file.entry().path, complaint);
  else
    reception_.tally().complain(complaint);
  settle_current();
  return {};
}

/// Files that were dropped and have not come again are not to be had.
void Receiver::complain_of_dropped() {
  for (const auto& [path, complaint] : std::exchange(dropped_, {})) reception_.tally().complain(complaint);
}

/// This file cannot be had here; its leaves are passed over.
void Receiver::give_up(const Error& error) {
  current_->is_given_up = true;
  reception_.forbid_links_to(current_->id, current_->file.entry());
  reception_.refuse(current_->id, error.message(), Reception::When::later);
}

void Receiver::settle_current() {
  reception_.settle(current_->body_bytes);
  current_.reset();
}

Status Receiver::complete(const End& end) {
  entries_.wait_until_idle();
  if (end.entries != next_id_ || !reception_.all_settled() || current_)
    return tl::unexpected(of_sender("it ends before all is settled"));
  committer_->finish();
  if (const auto failure = reception_.failure()) return tl::unexpected(*failure);
  complain_of_dropped();
  UDTCAT_CHECK(make_links());
  reception_.parts().remove();
  set_directories();
  UDTCAT_CHECK(destination_.sync());
  reception_.proofs().forget_what_is_gone(destination_, kMinLooks + reception_.tally().entries);
  write_book();
  reception_.tell_refusals();
  UDTCAT_CHECK(reception_.writer().put(Done{next_id_}));
  UDTCAT_CHECK(reception_.writer().flush());
  is_done_ = true;
  return {};
}

/// Of a name that was proved.
void Receiver::refuse_after_all(EntryId id, const Error& error) {
  reception_.spoil_manifest();
  reception_.tally().take_back_entry();
  reception_.refuse(id, error.message(), Reception::When::later);
  reception_.tell_many_refusals();  // nothing is left that the sender waits for but the end
}

ScopedStatus Receiver::make_link(const Judge::Link& link) {
  const std::string path = judge_.paths().path(link.path);
  const std::string of = judge_.path_of(link.of);
  const auto file = reception_.standing(link.of);
  if (!file || reception_.forbids_links_to(link.of))
    return of_name(fail(Errc::local_write_failed, "link " + destination_.tree().shown(path), of + " is missing"));
  return destination_.make_hard_link(path, of, *file);
}

Status Receiver::make_links() {
  for (const auto& link : judge_.links()) {
    const auto made = make_link(link);
    if (!made && !made.error().is_of_name) return tl::unexpected(made.error().error);
    if (!made) refuse_after_all(link.id, made.error().error);
  }
  return {};
}

/// Those within come first, since making a name in a directory changes its time.
void Receiver::set_directories() {
  const auto& all = judge_.directories();
  for (auto directory = all.rbegin(); directory != all.rend(); ++directory) {
    const std::string path = judge_.paths().path(directory->path);
    Attributes attributes = directory->attributes;
    if (path == ".") {
      const auto own_mode = reception_.options().keeps_owners ? std::nullopt : top_.own_mode(reception_.options().home);
      attributes.mode = own_mode.value_or(attributes.mode);
    }
    struct stat made {};
    made.st_dev = directory->device;
    made.st_ino = directory->inode;
    const auto set = destination_.set_directory(path, attributes, made);
    if (!set) refuse_after_all(directory->id, set.error().error);
    if (set && path == ".") top_.keep_mode(attributes.mode);
  }
}

void Receiver::write_book() {
  if (!reception_.options().book) return;
  Proofs& proofs = reception_.proofs();
  const auto later = proofs.note(committer_->proved(), destination_);
  if (!later.empty() && !reception_.should_stop()) {
    reception_.pause(kLately);
    std::ignore = proofs.note(later, destination_);  // the rest is hashed the next time
  }
  proofs.save();
}

}  // namespace udtcat::trees
