#include "bridge/child_keeper.hpp"

#include <csignal>
#include <memory>
#include <tuple>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bridge/loop.hpp"

namespace udtcat::bridge {
namespace {

/// A keeper, and a process that leads a group in its keeping and waits for a signal.
class ChildKeeperTest : public testing::Test {
 protected:
  void SetUp() override {
    auto started = ChildKeeper::start(input_.write);
    ASSERT_TRUE(started) << started.error().message();
    keeper_ = std::move(*started);
    std::ignore = input_.write.close();
    Ends kept_now = make_pipe();
    kept_ = ::fork();
    if (kept_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::setsid();
      keeper_->keep_my_group();
      std::ignore = kept_now.write.close();
      for (;;) ::pause();
    }
    std::ignore = kept_now.write.close();
    EXPECT_TRUE(ends(kept_now.read));
  }
  void TearDown() override {
    if (kept_ > 0) {
      ::kill(kept_, SIGKILL);
      ::waitpid(kept_, nullptr, 0);
    }
  }
  static bool ends(const Descriptor& read) {
    std::byte none{};
    return ::read(read.number(), &none, 1) == 0;
  }
  [[nodiscard]] bool input_ends() const { return ends(input_.read); }
  [[nodiscard]] bool input_has_ended() const {
    pollfd wait{input_.read.number(), POLLIN, 0};
    return ::poll(&wait, 1, 0) == 1;
  }

  Ends input_ = make_pipe();
  std::unique_ptr<ChildKeeper> keeper_;
  pid_t kept_ = -1;
};

TEST_F(ChildKeeperTest, HoldsTheInputUntilItIsToldThatAllHasCome) {
  EXPECT_FALSE(input_has_ended());
  keeper_->end_input();
  EXPECT_TRUE(input_ends());
  EXPECT_EQ(::kill(kept_, 0), 0);
}

TEST_F(ChildKeeperTest, KillsTheGroupBeforeItsInputEnds) {
  keeper_.reset();
  EXPECT_TRUE(input_ends());
  int status = 0;
  ASSERT_EQ(::waitpid(kept_, &status, 0), kept_);
  kept_ = -1;
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

TEST_F(ChildKeeperTest, KillsTheGroupAlsoWhenItsInputHasLongEnded) {
  keeper_->end_input();
  EXPECT_TRUE(input_ends());
  keeper_.reset();
  int status = 0;
  ASSERT_EQ(::waitpid(kept_, &status, 0), kept_);
  kept_ = -1;
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

TEST_F(ChildKeeperTest, LeavesAGroupAloneOnceDismissed) {
  for (const bool input_ended_before : {true, false}) {
    if (input_ended_before) keeper_->end_input();
    keeper_->dismiss();
    keeper_.reset();
    EXPECT_TRUE(input_ends());
    EXPECT_EQ(::waitpid(kept_, nullptr, WNOHANG), 0) << "it has been killed";
    TearDown();
    input_ = make_pipe();
    SetUp();
  }
}

}  // namespace
}  // namespace udtcat::bridge
