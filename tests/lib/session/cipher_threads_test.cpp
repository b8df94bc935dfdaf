// SPDX-License-Identifier: Apache-2.0
#include "lib/session/cipher_threads.hpp"

#include <atomic>
#include <filesystem>
#include <future>
#include <iterator>
#include <latch>
#include <thread>

#include <gtest/gtest.h>

#include "support/deadline.hpp"
#include "support/scale.hpp"

namespace udtcat::session {
namespace {

std::ptrdiff_t threads_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

/// Counts its pieces, and how many threads were in it at once.
class Counted final : public CipherThreads::Strand {
 public:
  [[nodiscard]] int worked() const { return worked_; }
  [[nodiscard]] bool was_shared() const { return shared_; }
  void wait_until_worked(int pieces) const {
    for (int now = worked_; now < pieces; now = worked_) worked_.wait(now);
  }

 private:
  void work() override {
    if (inside_.exchange(true)) shared_ = true;
    inside_ = false;
    ++worked_;
    worked_.notify_all();
  }
  std::atomic<int> worked_ = 0;
  std::atomic<bool> inside_ = false;
  std::atomic<bool> shared_ = false;
};

/// Stays in its first piece until it is let go.
class Held final : public CipherThreads::Strand {
 public:
  std::latch begun{1};
  std::promise<void> go;
  std::atomic<int> worked = 0;

 private:
  void work() override {
    if (worked == 0) {
      begun.count_down();
      go.get_future().wait();
    }
    ++worked;
  }
};

TEST(CipherThreads, WorkEveryPieceOfAStrandOneThreadAtATime) {
  const auto threads = CipherThreads::start(4).value();
  Counted strands[3];
  constexpr int kPieces = 2000;
  for (int i = 0; i < kPieces; ++i)
    for (Counted& strand : strands) threads->add(strand);
  for (Counted& strand : strands) {
    strand.wait_until_worked(kPieces);
    threads->remove(strand);
    EXPECT_EQ(strand.worked(), kPieces);
    EXPECT_FALSE(strand.was_shared());
  }
}

/// Counts threads while there is one already: with the first, a sanitizer begins one of its own.
class CipherThreadsOfProcess : public ::testing::Test {
 protected:
  ~CipherThreadsOfProcess() override {
    over_.set_value();
    other_.join();
  }
  std::promise<void> over_;
  std::thread other_{[this] { over_.get_future().wait(); }};
};

TEST_F(CipherThreadsOfProcess, AreOneSetAsLargeAsTheLargestRequest) {
  const auto before = threads_of_this_process();
  const auto first = CipherThreads::of_process(2).value();
  const auto second = CipherThreads::of_process(1).value();
  EXPECT_EQ(first, second);
  EXPECT_EQ(threads_of_this_process(), before + 2);
  const auto third = CipherThreads::of_process(3).value();
  EXPECT_EQ(threads_of_this_process(), before + 3);
}

TEST_F(CipherThreadsOfProcess, EndWithTheLastOfTheirUsers) {
  const auto before = threads_of_this_process();
  { const auto threads = CipherThreads::of_process(3).value(); }
  // The system shows a thread a moment longer than it can be joined.
  EXPECT_TRUE(test::eventually(test::kAtOnce, [&] { return threads_of_this_process() == before; }));
}

TEST(CipherThreads, WaitForThePieceBeingWorkedAndForgetTheOthersOfARemovedStrand) {
  const auto threads = CipherThreads::start(2).value();
  Held strand;
  for (int i = 0; i < 5; ++i) threads->add(strand);
  strand.begun.wait();
  auto removed = std::async(std::launch::async, [&] { threads->remove(strand); });
  EXPECT_EQ(removed.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  strand.go.set_value();
  removed.get();
  EXPECT_EQ(strand.worked, 1);
}

}  // namespace
}  // namespace udtcat::session
