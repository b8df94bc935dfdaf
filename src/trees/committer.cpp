// SPDX-License-Identifier: Apache-2.0
#include "trees/committer.hpp"

#include <tuple>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "trees/disk/fingerprint.hpp"
#include "trees/start_thread.hpp"

namespace udtcat::trees {

Status Committer::start() {
  return start_thread(thread_, [this] { work(); });
}

void Committer::stop() {
  batches_.close();
  if (thread_.joinable()) thread_.join();
}

void Committer::add(ReceivedFile file) {
  if (batch_.empty()) batch_began_ = Clock::now();
  batch_bytes_ += file.entry.size_bytes;
  batch_memory_ += file.entry.path.size();
  for (const auto& each : file.entry.attributes.extended) batch_memory_ += each.name.size() + each.value.size();
  if (!file.state.has_name) pending_.front().insert(file.entry.path);
  batch_.push_back(std::move(file));
  const bool is_full = batch_.size() >= kMaxFiles || batch_bytes_ >= kMaxBytes || batch_memory_ >= kMaxMemory;
  const bool is_worth_it = batch_.size() >= kFiles || batch_bytes_ >= kBytes || Clock::now() - batch_began_ >= kMaxAge;
  if (is_full || (is_worth_it && batches_.idle())) hand_over();
}

void Committer::hand_over() {
  batch_bytes_ = 0;
  batch_memory_ = 0;
  if (batch_.empty()) return;
  std::ignore = batches_.push(std::exchange(batch_, {}));
  // push() has waited until the batch before was begun, so those before that one have their names.
  pending_ = {std::set<std::string>(), std::move(pending_[0]), std::move(pending_[1])};
}

void Committer::finish() {
  hand_over();
  batches_.wait_until_idle();
  pending_ = {};
}

void Committer::work() {
  Destination destination = state_.destination();
  while (auto batch = batches_.pop())
    if (auto committed = commit(std::move(*batch), destination); !committed) state_.fail(committed.error());
}

Status Committer::commit(std::vector<ReceivedFile> batch, Destination& destination) {
  if (const auto failure = state_.failure(); failure && !is_of_limit(*failure)) return {};
  UDTCAT_CHECK(destination.sync());
  // Files of earlier batches may have a fingerprint by now, as time has passed since they changed.
  verified_ = state_.verified_files().note(verified_, destination);
  for (const ReceivedFile& file : batch) {
    const auto stands = give_name(file, destination);
    if (!stands) {
      state_.forbid_links_to(file.id, file.entry);
      state_.refuse(file.id, stands.error().message(), ReceiverState::When::later);
      continue;
    }
    state_.add_link_target(file.id, file.entry, *stands);
    state_.record(file.entry, file.digest);
    watch(file, *stands);
  }
  end_watch(0);
  return {};
}

NameStatus Committer::sync(const files::FileLocation& part) {
  UDTCAT_TRY(auto opened, part.open(O_RDONLY, Errc::local_write_failed));
  if (::fsync(opened.number()) == 0) return {};
  return core::fail_by_errno(Errc::local_write_failed, "store " + part.shown());
}

NameResult<struct stat> Committer::give_name(const ReceivedFile& file, Destination& destination) {
  if (file.state.has_name) {
    UDTCAT_TRY(const auto now, destination.hold(file.entry.path, file.state.status));
    if (is_same_content(now, file.state.status)) return now;
    return fail(Errc::local_write_failed, "keep " + destination.tree().shown(file.entry.path),
                "somebody else is writing it");
  }
  UDTCAT_TRY(const auto folder, destination.folder_of(file.entry.path));
  if (file.state.needs_fsync) UDTCAT_CHECK(sync(folder.of(file.entry.path)));
  if (file.fingerprint && folder.traits().tells_of_changes) {
    auto opened = folder.of(file.entry.path)
                      .open(O_RDONLY, Errc::local_read_failed);  // where it cannot be opened it is not cached
    if (opened) begin_watch(std::move(*opened));
  }
  return destination.publish(file.entry.path, file.state.status);
}

/// Keeps a file for the hash cache, unless somebody may have written it since its content was hashed.
void Committer::watch(const ReceivedFile& file, const struct stat& stands) {
  if (!file.fingerprint || !file.state.may_be_cached) return;
  const VerifiedFile verified{file.entry.path, *file.fingerprint, file.digest, stands};
  if (file.state.has_name) {
    if (is_same_state(stands, file.state.status)) verified_.push_back(verified);
    return;
  }
  struct stat opened {};
  if (watched_.empty() || watched_.back()->verified) return;
  if (::fstat(watched_.back()->file.number(), &opened) == 0 && is_same_state(opened, stands))
    watched_.back()->verified = verified;
}

void Committer::begin_watch(bridge::Descriptor part) {
  // guess: of descriptors, which sessions and other transfers need as well
  constexpr std::size_t kShare = 4;
  rlimit descriptors{};
  const bool has_limit = ::getrlimit(RLIMIT_NOFILE, &descriptors) == 0;
  const bool is_full =
      watched_.size() >= kMaxWatched || (has_limit && Watched::in_all >= descriptors.rlim_cur / kShare);
  end_watch(is_full ? watched_.size() / 2 : watched_.size());
  watched_.push_back(std::make_unique<Watched>(std::move(part)));
}

/// Checks the parts of watched_ that were renamed in an earlier step of the clock: within it a change leaves no other
/// times.  left   how many may stay; waits for a step where there would be more
void Committer::end_watch(std::size_t left) {
  while (!watched_.empty()) {
    Watched& first = *watched_.front();
    if (first.verified && !is_past_step(first.verified->status)) {
      if (watched_.size() <= left || state_.has_failed()) break;
      state_.pause(std::chrono::milliseconds(1));
      continue;
    }
    struct stat now {};
    if (first.verified && first.quiet.is_quiet() && ::fstat(first.file.number(), &now) == 0 &&
        is_same_state(now, first.verified->status))
      verified_.push_back(std::move(*first.verified));
    watched_.pop_front();
  }
  if (state_.has_failed()) watched_.clear();
}

}  // namespace udtcat::trees
