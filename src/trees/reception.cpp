// SPDX-License-Identifier: Apache-2.0
#include "trees/reception.hpp"

#include <tuple>
#include <utility>

namespace udtcat::trees {

namespace {

constexpr std::size_t kManyRefusals = 1'024;           // guess: a MiB of reasons
constexpr std::size_t kMaxExpectedLeaves = 2'097'152;  // guess: 80 MiB of hashes: of 2 TiB
constexpr std::chrono::milliseconds kLookForCut{500};  // guess: a wire that is cut wakes nobody here

}  // namespace

Reception::Reception(ReceiverOptions options, Parts parts, Wire& wire, ManifestLog* manifest, Tally& tally)
    : options_(std::move(options)),
      parts_(std::move(parts)),
      wire_(wire),
      writer_(wire),
      tally_(tally),
      placement_(options_.limit_bytes,
                 [this](const std::string& line) {
                   tally_.lose(line);
                   if (auto told = writer_.put(Unkept{line}); !told) fail(told.error());
                 }),
      proofs_(options_.book, {.peer = options_.peer, .is_believed = options_.believes_book}),
      manifest_(manifest) {}

void Reception::fail(const Error& error) {
  {
    const core::MutexLock lock(mutex_);
    if (failure_) return;
    failure_ = error;
  }
  failed_ = true;
  failing_.notify_all();
  wire_.cut_unless_ended();
  tell_failure(error, writer_);
  wire_.finish();  // the thread that reads may wait for a sender who says nothing more
}

std::optional<Error> Reception::failure() {
  const core::MutexLock lock(mutex_);
  return failure_;
}

void Reception::pause(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  const core::MutexLock lock(mutex_);
  while (!failure_ && std::chrono::steady_clock::now() < end) std::ignore = failing_.wait_for(mutex_, time);
}

Status Reception::announce(std::size_t body_bytes) {
  const std::size_t entries = ++unsettled_;
  const std::size_t bytes = unsettled_bytes_ += body_bytes;
  if (entries <= kMaxUnsettled && (bytes <= kMaxUnsettledBytes || entries == 1)) return {};
  return udtcat::fail(Errc::protocol_violated, "take the sender's entries", "it sends too many ahead");
}

void Reception::settle(std::size_t body_bytes) {
  unsettled_bytes_ -= body_bytes;
  --unsettled_;
}

void Reception::refuse(EntryId id, const std::string& reason, When when) {
  tally_.complain(reason);
  if (when == When::later) {
    const core::MutexLock lock(mutex_);
    return refusals_.push_back({id, reason.substr(0, kMaxReasonBytes)});
  }
  if (auto told = writer_.put(Refused{id, reason}); !told) fail(told.error());
}

void Reception::tell_refusals() {
  std::vector<Refused> refusals;
  {
    const core::MutexLock lock(mutex_);
    refusals.swap(refusals_);
  }
  for (const Refused& each : refusals)
    if (auto told = writer_.put(each); !told) return fail(told.error());
}

void Reception::tell_many_refusals() {
  {
    const core::MutexLock lock(mutex_);
    if (refusals_.size() < kManyRefusals) return;
  }
  tell_refusals();
}

void Reception::spoil_manifest() {
  const core::MutexLock lock(mutex_);
  if (manifest_ != nullptr) manifest_->spoil();
}

void Reception::stand(EntryId id, const Entry& entry, const struct stat& status) {
  if (!entry.may_be_linked) return;
  const core::MutexLock lock(mutex_);
  standing_[id] = status;
}

std::optional<struct stat> Reception::standing(EntryId id) {
  const core::MutexLock lock(mutex_);
  const auto found = standing_.find(id);
  return found != standing_.end() ? std::optional(found->second) : std::nullopt;
}

void Reception::forbid_links_to(EntryId id, const Entry& entry) {
  if (!entry.may_be_linked) return;
  const core::MutexLock lock(mutex_);
  missing_.insert(id);
}

bool Reception::forbids_links_to(EntryId id) {
  const core::MutexLock lock(mutex_);
  return missing_.contains(id);
}

void Reception::prove(const Entry& entry, const std::optional<files::Digest>& digest) {
  ++tally_.entries;
  if (entry.kind == EntryKind::file) ++tally_.files;
  Status written;
  {
    const core::MutexLock lock(mutex_);
    if (manifest_ != nullptr) written = manifest_->add(entry, digest);
  }
  if (!written) fail(written.error());
}

void Reception::expect_links_to(EntryId id, const std::string& path) {
  const core::MutexLock lock(mutex_);
  if (manifest_ != nullptr) manifest_->expect_links_to(id, path);
}

void Reception::expect(EntryId id, Expected file) {
  const std::size_t leaves = leaves_of(file);
  core::MutexLock lock(mutex_);
  const auto is_full = [&]() UDTCAT_REQUIRES(mutex_) {
    return expected_leaves_ > 0 && expected_leaves_ + leaves > kMaxExpectedLeaves;
  };
  if (is_full()) {
    lock.unlock();
    if (auto flushed = writer_.flush(); !flushed) fail(flushed.error());  // else nobody would describe those before
    lock.lock();
  }
  while (is_full() && !should_stop()) std::ignore = less_expected_.wait_for(mutex_, kLookForCut);
  expected_leaves_ += leaves;
  expected_.insert_or_assign(id, std::move(file));
}

std::optional<Reception::Expected> Reception::take_expected(EntryId id) {
  const core::MutexLock lock(mutex_);
  const auto found = expected_.find(id);
  if (found == expected_.end()) return std::nullopt;
  Expected file = std::move(found->second);
  expected_.erase(found);
  expected_leaves_ -= leaves_of(file);
  less_expected_.notify_all();
  return file;
}

}  // namespace udtcat::trees
