// SPDX-License-Identifier: Apache-2.0
#include "trees/committer.hpp"

#include <utility>

#include "lib/core/try.hpp"

namespace udtcat::trees {

std::vector<Proved> note(const std::vector<Proved>& proved, Destination& destination, Reception& reception) {
  std::vector<Proved> later;
  for (const Proved& each : proved) {
    const auto status = destination.look(each.path);
    const auto own = status && *status ? files::stamp_of(**status) : std::nullopt;
    if (own)
      reception.note(each, *own);
    else
      later.push_back(each);
  }
  return later;
}

Committer::Committer(Reception& reception) : reception_(reception), thread_([this] { work(); }) {}

void Committer::stop() {
  batches_.close();
  if (thread_.joinable()) thread_.join();
}

void Committer::add(Taken file) {
  if (batch_.empty()) batch_began_ = Clock::now();
  batch_bytes_ += file.entry.size_bytes;
  batch_.push_back(std::move(file));
  const bool is_full = batch_.size() >= kMaxFiles || batch_bytes_ >= kMaxBytes;
  const bool is_worth_it = batch_.size() >= kFiles || batch_bytes_ >= kBytes || Clock::now() - batch_began_ >= kMaxAge;
  if (is_full || (is_worth_it && batches_.idle())) hand_over();
}

void Committer::hand_over() {
  batch_bytes_ = 0;
  if (!batch_.empty()) batches_.give(std::exchange(batch_, {}));
}

void Committer::finish() {
  hand_over();
  batches_.wait_until_idle();
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
  proved_ = note(proved_, destination, reception_);
  for (Taken& file : batch) {
    if (file.is_part)
      if (auto published = destination.publish(file.entry.path); !published) {
        reception_.miss(file.id, file.entry);
        reception_.refuse(file.id, published.error().message());
        continue;
      }
    reception_.prove(file.entry, file.digest);
    if (file.entry.stamp) proved_.push_back({std::move(file.entry.path), *file.entry.stamp, file.digest});
  }
  return {};
}

}  // namespace udtcat::trees
