// SPDX-License-Identifier: Apache-2.0
#include "trees/answers.hpp"

#include <tuple>
#include <utility>

namespace udtcat::trees {

namespace {

std::size_t digests_of(const Message& answer) {
  const auto* hashes = std::get_if<Hashes>(&answer);
  return hashes != nullptr ? hashes->digests.size() : 0;
}

}  // namespace

bool Answers::give(Message answer) {
  const core::MutexLock lock(mutex_);
  if (const auto* failed = std::get_if<Failed>(&answer)) {
    over_ = error_of(*failed);
    has_failed_ = true;
    waiting_.clear();
    digests_ = 0;
    changed_.notify_all();
    return false;
  }
  while ((waiting_.size() >= kMaxWaiting || digests_ >= kMaxWaitingDigests) && !closed_) changed_.wait(mutex_);
  if (closed_) return false;
  digests_ += digests_of(answer);
  waiting_.push_back(std::move(answer));
  changed_.notify_all();
  return true;
}

void Answers::end(std::optional<Error> error) {
  const core::MutexLock lock(mutex_);
  if (over_) return;
  over_ = error.value_or(Error{Errc::protocol_violated, "read the receiver's answers", "it has ended before its last"});
  changed_.notify_all();
}

Result<Message> Answers::take() {
  const core::MutexLock lock(mutex_);
  while (waiting_.empty() && !over_) changed_.wait(mutex_);
  if (waiting_.empty()) return tl::unexpected(*over_);
  Message answer = std::move(waiting_.front());
  waiting_.pop_front();
  digests_ -= digests_of(answer);
  changed_.notify_all();
  return answer;
}

std::optional<Error> Answers::failure() {
  const core::MutexLock lock(mutex_);
  return has_failed_ ? over_ : std::nullopt;
}

bool Answers::empty() {
  const core::MutexLock lock(mutex_);
  return waiting_.empty();
}

void Answers::pause(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  const core::MutexLock lock(mutex_);
  for (auto now = end - time; now < end && !over_; now = std::chrono::steady_clock::now())
    std::ignore = changed_.wait_for(mutex_, std::chrono::ceil<std::chrono::milliseconds>(end - now));
}

void Answers::close() {
  const core::MutexLock lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

}  // namespace udtcat::trees
