// SPDX-License-Identifier: Apache-2.0
#include "trees/committer.hpp"

#include <tuple>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "lib/core/try.hpp"
#include "trees/disk/stamp.hpp"
#include "trees/start_thread.hpp"

namespace udtcat::trees {

Status Committer::start() {
  return start_thread(thread_, [this] { work(); });
}

void Committer::stop() {
  batches_.close();
  if (thread_.joinable()) thread_.join();
}

void Committer::add(Taken file) {
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
  // It has waited until the one before was begun: then those before that have their names.
  pending_ = {std::set<std::string>(), std::move(pending_[0]), std::move(pending_[1])};
}

void Committer::finish() {
  hand_over();
  batches_.wait_until_idle();
  pending_ = {};
}

void Committer::work() {
  Destination destination = reception_.destination();
  while (auto batch = batches_.pop())
    if (auto committed = commit(std::move(*batch), destination); !committed) reception_.fail(committed.error());
}

Status Committer::commit(std::vector<Taken> batch, Destination& destination) {
  if (reception_.has_failed()) return {};
  UDTCAT_CHECK(destination.sync());
  // Those before are old enough to be told from what changes now.
  proved_ = reception_.proofs().note(proved_, destination);
  for (const Taken& file : batch) {
    const auto stands = give_name(file, destination);
    if (!stands) {
      reception_.forbid_links_to(file.id, file.entry);
      reception_.refuse(file.id, stands.error().message(), Reception::When::later);
      continue;
    }
    reception_.stand(file.id, file.entry, *stands);
    reception_.prove(file.entry, file.digest);
    watch(file, *stands);
  }
  end_watch(0);
  return {};
}

NameResult<struct stat> Committer::give_name(const Taken& file, Destination& destination) {
  if (file.state.has_name) {
    UDTCAT_TRY(const auto now, destination.hold(file.entry.path, file.state.status));
    if (is_same_content(now, file.state.status)) return now;
    return fail(Errc::local_write_failed, "keep " + destination.tree().shown(file.entry.path),
                "somebody else is writing it");
  }
  UDTCAT_TRY(const auto folder, destination.folder_of(file.entry.path));
  if (file.stamp && folder.traits().tells_of_changes) {
    auto opened = folder.of(file.entry.path).open(O_RDONLY, Errc::local_read_failed);  // else it is not booked
    if (opened) begin_watch(std::move(*opened));
  }
  return destination.publish(file.entry.path, file.state.status);
}

/// A file that is booked has the content that was proved: nobody has written it up to this look, or its times tell.
void Committer::watch(const Taken& file, const struct stat& stands) {
  if (!file.stamp || !file.state.may_be_booked) return;
  const Proved proved{file.entry.path, *file.stamp, file.digest, stands};
  if (file.state.has_name) {
    if (is_same_state(stands, file.state.status)) proved_.push_back(proved);
    return;
  }
  struct stat opened {};
  if (watched_.empty() || watched_.back()->proved) return;
  if (::fstat(watched_.back()->file.number(), &opened) == 0 && is_same_state(opened, stands))
    watched_.back()->proved = proved;
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

/// Looks at those whose step of the clock is over, since a change in the step of the rename would leave the times as
/// they are.  left   how many may stay; waits for a step where there would be more
void Committer::end_watch(std::size_t left) {
  while (!watched_.empty()) {
    Watched& first = *watched_.front();
    if (first.proved && !is_past_step(first.proved->status)) {
      if (watched_.size() <= left || reception_.has_failed()) break;
      reception_.pause(std::chrono::milliseconds(1));
      continue;
    }
    struct stat now {};
    if (first.proved && first.quiet.is_quiet() && ::fstat(first.file.number(), &now) == 0 &&
        is_same_state(now, first.proved->status))
      proved_.push_back(std::move(*first.proved));
    watched_.pop_front();
  }
  if (reception_.has_failed()) watched_.clear();
}

}  // namespace udtcat::trees
