// SPDX-License-Identifier: Apache-2.0
/// One direction of one connection while a test waits for it: how far it came, and what went wrong.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <gtest/gtest.h>

namespace udtcat::test::interop {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct Transfer {
  std::uint64_t bytes = 0;
  std::string trouble;                    ///< empty: none
  std::chrono::milliseconds duration{0};  ///< from the start to the end, or to the last progress
  std::chrono::milliseconds gap{0};       ///< the longest between two pieces
  std::uint64_t gap_at = 0;               ///< bytes before it
  bool ended = false;                     ///< the peer closed; only for those that read to the end

  [[nodiscard]] std::string text() const {
    return std::to_string(bytes) + " bytes in " + std::to_string(duration.count()) + " ms, longest gap " +
           std::to_string(gap.count()) + " ms at byte " + std::to_string(gap_at) +
           (trouble.empty() ? "" : "; trouble: " + trouble);
  }
};

/// A transfer that goes on elsewhere. Copies speak of the same one. Threads: internally synchronised.
class Job {
 public:
  void progress(std::uint64_t more) {
    const std::lock_guard lock(shared_->mutex);
    const auto now = Clock::now();
    const auto gap = std::chrono::duration_cast<std::chrono::milliseconds>(now - shared_->last);
    if (shared_->transfer.bytes > 0 && gap > shared_->transfer.gap) {
      shared_->transfer.gap = gap;
      shared_->transfer.gap_at = shared_->transfer.bytes;
    }
    shared_->last = now;
    shared_->transfer.bytes += more;
    shared_->transfer.duration = std::chrono::duration_cast<std::chrono::milliseconds>(now - shared_->begin);
    shared_->changed.notify_all();
  }
  void finish(std::string trouble = {}, bool ended = false) {
    const std::lock_guard lock(shared_->mutex);
    shared_->transfer.trouble = std::move(trouble);
    shared_->transfer.ended = ended;
    shared_->transfer.duration = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - shared_->begin);
    shared_->done = true;
    shared_->changed.notify_all();
  }
  /// The transfer at its end; with a trouble of its own where it is not over within `limit`.
  [[nodiscard]] Transfer wait(std::chrono::milliseconds limit) const {
    std::unique_lock lock(shared_->mutex);
    const bool done = shared_->changed.wait_for(lock, limit, [&] { return shared_->done; });
    Transfer transfer = shared_->transfer;
    if (!done) transfer.trouble = "not over after " + std::to_string(limit.count()) + " ms";
    return transfer;
  }
  [[nodiscard]] bool wait_for_bytes(std::uint64_t bytes, std::chrono::milliseconds limit) const {
    std::unique_lock lock(shared_->mutex);
    return shared_->changed.wait_for(lock, limit, [&] { return shared_->transfer.bytes >= bytes; });
  }
  [[nodiscard]] std::uint64_t bytes() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->transfer.bytes;
  }
  [[nodiscard]] bool done() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->done;
  }

 private:
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    const Clock::time_point begin = Clock::now();
    Clock::time_point last = Clock::now();  // guarded by mutex, as all below
    Transfer transfer;
    bool done = false;
  };
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

/// For EXPECT_TRUE: all of it came, unchanged.
[[nodiscard]] inline testing::AssertionResult complete(const Transfer& transfer, std::uint64_t bytes) {
  if (transfer.trouble.empty() && transfer.bytes == bytes) return testing::AssertionSuccess() << transfer.text();
  return testing::AssertionFailure() << transfer.text() << " (of " << bytes << " bytes)";
}

}  // namespace udtcat::test::interop
