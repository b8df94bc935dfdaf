// SPDX-License-Identifier: Apache-2.0
#include "trees/committer.hpp"

#include <utility>

#include "lib/core/try.hpp"

namespace udtcat::trees {

Committer::Committer(Reception& reception) : reception_(reception), thread_([this] { work(); }) {}

void Committer::stop() {
  batches_.close();
  if (thread_.joinable()) thread_.join();
}

void Committer::add(Taken file) {
  if (batch_.empty()) batch_began_ = Clock::now();
  batch_bytes_ += file.entry.size_bytes;
  if (!file.standing) pending_.front().insert(file.entry.path);
  batch_.push_back(std::move(file));
  const bool is_full = batch_.size() >= kMaxFiles || batch_bytes_ >= kMaxBytes;
  const bool is_worth_it = batch_.size() >= kFiles || batch_bytes_ >= kBytes || Clock::now() - batch_began_ >= kMaxAge;
  if (is_full || (is_worth_it && batches_.idle())) hand_over();
}

void Committer::hand_over() {
  batch_bytes_ = 0;
  if (batch_.empty()) return;
  batches_.give(std::exchange(batch_, {}));
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
  while (auto batch = batches_.take())
    if (auto committed = commit(std::move(*batch), destination); !committed) reception_.fail(committed.error());
}

Status Committer::commit(std::vector<Taken> batch, Destination& destination) {
  if (reception_.has_failed()) return {};
  UDTCAT_CHECK(destination.sync());
  // Those before are old enough to be told from what changes now.
  proved_ = reception_.proofs().note(proved_, destination);
  for (Taken& file : batch) {
    const Result<struct stat> stands = file.standing ? *file.standing : destination.publish(file.entry.path);
    if (!stands) {
      reception_.forbid_links_to(file.id, file.entry);
      reception_.refuse(file.id, stands.error().message(), Reception::When::later);
      continue;
    }
    reception_.prove(file.entry, file.digest);
    if (file.entry.stamp) proved_.push_back({std::move(file.entry.path), *file.entry.stamp, file.digest, *stands});
  }
  return {};
}

}  // namespace udtcat::trees
