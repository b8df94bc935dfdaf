// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/child_watchdog.hpp"

#include <csignal>
#include <memory>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/bridge/loop.hpp"
#include "support/failing_calls.hpp"

namespace udtcat::bridge {
namespace {

bool ends(const Descriptor& read) {
  std::byte none{};
  return ::read(read.number(), &none, 1) == 0;
}

/// A program that leads a group watched by `watchdog`.  returns  its number, once it runs
pid_t start_watched(const ChildWatchdog& watchdog) {
  Ends ready = make_pipe();
  const pid_t kept = ::fork();
  if (kept == 0) {
    ::setsid();
    if (watchdog.watch_my_group() != 0) ::_exit(126);
    close_on_exec_above(STDERR_FILENO);
    ::execlp("sleep", "sleep", "60", nullptr);
    ::_exit(127);
  }
  std::ignore = ready.write.close();
  EXPECT_TRUE(ends(ready.read));
  return kept;
}

class ChildWatchdogTest : public testing::Test {
 protected:
  void start() {
    auto started = ChildWatchdog::start(input_.write);
    ASSERT_TRUE(started) << started.error().message();
    watchdog_ = std::move(*started);
    std::ignore = input_.write.close();
    watched_ = start_watched(*watchdog_);
  }
  void TearDown() override {
    if (watched_ <= 0) return;
    ::kill(watched_, SIGKILL);
    ::waitpid(watched_, nullptr, 0);
  }
  [[nodiscard]] bool input_has_ended() const {
    pollfd wait{input_.read.number(), POLLIN, 0};
    return ::poll(&wait, 1, 0) == 1;
  }

  Ends input_ = make_pipe();
  std::unique_ptr<ChildWatchdog> watchdog_;
  pid_t watched_ = -1;
};

TEST_F(ChildWatchdogTest, HoldsTheInputUntilItIsComplete) {
  start();
  EXPECT_FALSE(input_has_ended());
  watchdog_->end_input();
  EXPECT_TRUE(ends(input_.read));
  EXPECT_EQ(::waitpid(watched_, nullptr, WNOHANG), 0) << "the group has been killed";
}

TEST_F(ChildWatchdogTest, LeavesTheGroupAloneWhenItGoes) {
  start();
  watchdog_.reset();
  EXPECT_TRUE(ends(input_.read));
  EXPECT_EQ(::waitpid(watched_, nullptr, WNOHANG), 0) << "the group has been killed";
}

TEST_F(ChildWatchdogTest, KnowsWhetherAnIncompleteInputHasAReader) {
  start();
  EXPECT_TRUE(watchdog_->incomplete_input_has_reader());
  watchdog_->end_input();
  EXPECT_FALSE(watchdog_->incomplete_input_has_reader()) << "the end has come";
}

TEST_F(ChildWatchdogTest, KnowsThatTheReaderHasGone) {
  auto started = ChildWatchdog::start(input_.write);
  ASSERT_TRUE(started);
  EXPECT_TRUE((*started)->incomplete_input_has_reader());
  std::ignore = input_.read.close();
  EXPECT_FALSE((*started)->incomplete_input_has_reader());
}

TEST_F(ChildWatchdogTest, KillsTheGroupWhenWeDie) {
  for (const int times_input_ended : {0, 1, 2}) {
    Ends alive = make_pipe();
    const pid_t we = ::fork();
    if (we == 0) {
      auto watchdog = ChildWatchdog::start(input_.write);
      if (!watchdog) ::_exit(1);
      std::ignore = ::dup2(alive.write.number(), STDOUT_FILENO);  // which the kept has, too
      std::ignore = start_watched(**watchdog);
      for (int time = 0; time < times_input_ended; ++time) (*watchdog)->end_input();
      std::ignore = ::write(alive.write.number(), "up", 2);
      for (;;) ::pause();
    }
    std::ignore = alive.write.close();
    Bytes up(2);
    ASSERT_EQ(::read(alive.read.number(), up.data(), up.size()), 2);
    ::kill(we, SIGKILL);
    ::waitpid(we, nullptr, 0);
    EXPECT_TRUE(ends(alive.read)) << "the kept lives";
  }
}

TEST_F(ChildWatchdogTest, EndsTheInputThoughItCannotBeTold) {
  start();
  std::thread([this] {
    test::fail_calls({SYS_sendto}, ENOBUFS);
    EXPECT_EQ(watchdog_->watch_my_group(), ENOBUFS);
    watchdog_->end_input();
  }).join();
  EXPECT_TRUE(ends(input_.read));
  EXPECT_EQ(::waitpid(watched_, nullptr, WNOHANG), 0) << "the group has been killed";
}

}  // namespace
}  // namespace udtcat::bridge
