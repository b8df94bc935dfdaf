// SPDX-License-Identifier: Apache-2.0
#include "lib/session/hand_off.hpp"

#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>

#include "support/deadline.hpp"

namespace udtcat::session {
namespace {

using namespace std::chrono_literals;

TEST(CoreTime, IsReadFromWhatTheKernelWrites) {
  std::istringstream text("543210 98765 12\n");
  const auto times = CoreTime::read(text);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->had, 543'210ns);
  EXPECT_EQ(times->waited, 98'765ns);
}

TEST(CoreTime, IsNoneWhereTheTextIsNoTimes) {
  for (const char* words : {"", " ", "1", "1 ", "x 2 3", "1 x 3", "99999999999999999999 1 1"}) {
    std::istringstream text(words);
    EXPECT_FALSE(CoreTime::read(text)) << words;
  }
}

TEST(CoreTime, OfThisThreadGrowsWhileItRuns) {
  const auto before = CoreTime::of_this_thread();
  ASSERT_EQ(before.has_value(), std::filesystem::exists("/proc/thread-self/schedstat"));
  if (!before) return;
  EXPECT_TRUE(test::eventually(10s, [&] { return CoreTime::of_this_thread()->had > before->had; }));
}

class HandOffTest : public testing::Test {
 protected:
  /// A tenth of a second passes, in which the thread had a core so long, and waited so long for one.
  void pass(std::chrono::milliseconds had, std::chrono::milliseconds waited) {
    now += HandOff::kLookEvery;
    times.had += had;
    times.waited += waited;
    hand_off.look(now, times);
  }
  bool pays() { return hand_off.pays(now); }

  boost::asio::io_context io;
  HandOff& hand_off = HandOff::of(io);
  HandOff::TimePoint now = HandOff::TimePoint() + 1h;
  CoreTime times;
};

TEST_F(HandOffTest, PaysUntilThreadsWaitForCores) {
  pass(0ms, 0ms);
  pass(90ms, 10ms);
  EXPECT_TRUE(pays());
  pass(60ms, 40ms);
  EXPECT_FALSE(pays());
}

TEST_F(HandOffTest, PaysOnWhereAThreadWaitsThatHasLittleToDo) {
  pass(0ms, 0ms);
  pass(10ms, 20ms);
  EXPECT_TRUE(pays());
}

TEST_F(HandOffTest, IsTriedAgainAfterTwiceAsLongEachTime) {
  pass(0ms, 0ms);
  for (const int kept : {10, 20, 40}) {
    pass(50ms, 50ms);
    for (int i = 1; i < kept; ++i) {
      EXPECT_FALSE(pays()) << i << " of " << kept;
      pass(80ms, 0ms);
    }
    EXPECT_FALSE(pays());
    pass(80ms, 0ms);
    EXPECT_TRUE(pays()) << kept;
  }
  pass(90ms, 0ms);
  EXPECT_TRUE(pays());
  pass(50ms, 50ms);
  for (int i = 0; i < 10; ++i) pass(50ms, 50ms);
  EXPECT_TRUE(pays()) << "after a second, as at first";
}

TEST_F(HandOffTest, PaysWhereTheSystemDoesNotSay) {
  pass(0ms, 0ms);
  pass(50ms, 50ms);
  hand_off.look(now += 100ms, std::nullopt);
  EXPECT_TRUE(pays());
}

TEST_F(HandOffTest, LearnsNothingFromAPause) {
  pass(0ms, 0ms);
  now += 10s;
  pass(9'000ms, 1'100ms);
  EXPECT_TRUE(pays());
  pass(50ms, 50ms);
  EXPECT_FALSE(pays());
}

}  // namespace
}  // namespace udtcat::session
