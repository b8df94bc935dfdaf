// SPDX-License-Identifier: Apache-2.0
#include "trees/receiver_state.hpp"

#include <tuple>
#include <utility>

namespace udtcat::trees {

namespace {

constexpr std::size_t kManyRefusals = 1'024;           // guess: a MiB of reasons
constexpr std::size_t kMaxExpectedHashes = 2'097'152;  // guess: 80 MiB of hashes: of 2 TiB
constexpr std::chrono::milliseconds kLookForCut{500};  // guess: cut() of the stream does not notify less_expected_

}  // namespace

ReceiverState::ReceiverState(ReceiverOptions options, PartialFiles parts, BlockingStream& stream, ManifestLog* manifest,
                             TransferCounters& counters)
    : options_(std::move(options)),
      parts_(std::move(parts)),
      stream_(stream),
      writer_(stream),
      counters_(counters),
      written_(options_.limit_bytes, options_.directory_limit,
               [this](const std::string& line) {
                 counters_.lose(line);
                 const core::MutexLock lock(mutex_);
                 for_later_.push_back(NotStored{line.substr(0, kMaxReasonBytes)});
               }),
      verified_files_(options_.cache, {.peer = options_.peer, .is_trusted = options_.trusts_cache}),
      manifest_(manifest) {}

void ReceiverState::fail(const Error& error) {
  {
    const core::MutexLock lock(mutex_);
    if (failure_) return;
    failure_ = error;
  }
  failed_ = true;
  failing_.notify_all();
  stream_.cut_unless_ended();
  tell_refusals();
  tell_failure(error, writer_);
  stream_.finish();  // the reading thread waits for the sender, which ends once it has heard our end
}

std::optional<Error> ReceiverState::failure() {
  const core::MutexLock lock(mutex_);
  return failure_;
}

void ReceiverState::pause(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  const core::MutexLock lock(mutex_);
  while (!failure_ && std::chrono::steady_clock::now() < end) std::ignore = failing_.wait_for(mutex_, time);
}

Status ReceiverState::announce(std::size_t body_bytes) {
  const std::size_t entries = ++unacknowledged_;
  const std::size_t bytes = unacknowledged_bytes_ += body_bytes;
  if (entries <= kMaxUnacknowledged && (bytes <= kMaxUnacknowledgedBytes || entries == 1)) return {};
  return udtcat::fail(Errc::protocol_violated, "take the sender's entries", "it sends too many ahead");
}

void ReceiverState::acknowledge(std::size_t body_bytes) {
  unacknowledged_bytes_ -= body_bytes;
  --unacknowledged_;
}

void ReceiverState::refuse(EntryId id, const std::string& reason, When when) {
  counters_.complain(reason);
  if (when == When::later) {
    const core::MutexLock lock(mutex_);
    return for_later_.push_back(Refused{id, reason.substr(0, kMaxReasonBytes)});
  }
  if (auto told = writer_.put(Refused{id, reason}); !told) fail(told.error());
}

void ReceiverState::tell_refusals() {
  std::vector<Message> messages;
  {
    const core::MutexLock lock(mutex_);
    messages.swap(for_later_);
  }
  for (const Message& each : messages)
    if (auto told = writer_.put(each); !told) return fail(told.error());
}

void ReceiverState::tell_many_refusals() {
  {
    const core::MutexLock lock(mutex_);
    if (for_later_.size() < kManyRefusals) return;
  }
  tell_refusals();
}

void ReceiverState::spoil_manifest() {
  const core::MutexLock lock(mutex_);
  if (manifest_ != nullptr) manifest_->spoil();
}

void ReceiverState::add_link_target(EntryId id, const Entry& entry, const struct stat& status) {
  if (!entry.may_be_linked) return;
  const core::MutexLock lock(mutex_);
  link_targets_[id] = status;
}

std::optional<struct stat> ReceiverState::link_target(EntryId id) {
  const core::MutexLock lock(mutex_);
  const auto found = link_targets_.find(id);
  return found != link_targets_.end() ? std::optional(found->second) : std::nullopt;
}

void ReceiverState::forbid_links_to(EntryId id, const Entry& entry) {
  if (!entry.may_be_linked) return;
  const core::MutexLock lock(mutex_);
  missing_.insert(id);
}

bool ReceiverState::forbids_links_to(EntryId id) {
  const core::MutexLock lock(mutex_);
  return missing_.contains(id);
}

void ReceiverState::record(const Entry& entry, const std::optional<files::Digest>& digest) {
  ++counters_.entries;
  if (entry.kind == EntryKind::file) ++counters_.files;
  Status written;
  {
    const core::MutexLock lock(mutex_);
    if (manifest_ != nullptr) written = manifest_->add(entry, digest);
  }
  if (!written) fail(written.error());
}

void ReceiverState::expect_links_to(EntryId id, const std::string& path) {
  const core::MutexLock lock(mutex_);
  if (manifest_ != nullptr) manifest_->expect_links_to(id, path);
}

void ReceiverState::expect(EntryId id, Expected file) {
  const std::size_t hashes = hashes_of(file);
  core::MutexLock lock(mutex_);
  const auto is_full = [&]() UDTCAT_REQUIRES(mutex_) {
    return expected_hashes_ > 0 && expected_hashes_ + hashes > kMaxExpectedHashes;
  };
  if (is_full()) {
    lock.unlock();
    if (auto flushed = writer_.flush(); !flushed) fail(flushed.error());  // else the sender would not know those before
    lock.lock();
  }
  while (is_full() && !should_stop()) std::ignore = less_expected_.wait_for(mutex_, kLookForCut);
  expected_hashes_ += hashes;
  expected_.insert_or_assign(id, std::move(file));
}

std::optional<ReceiverState::Expected> ReceiverState::take_expected(EntryId id) {
  const core::MutexLock lock(mutex_);
  const auto found = expected_.find(id);
  if (found == expected_.end()) return std::nullopt;
  Expected file = std::move(found->second);
  expected_.erase(found);
  expected_hashes_ -= hashes_of(file);
  less_expected_.notify_all();
  return file;
}

}  // namespace udtcat::trees
