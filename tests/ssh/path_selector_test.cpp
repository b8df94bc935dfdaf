// SPDX-License-Identifier: Apache-2.0
#include "ssh/path_selector.hpp"

#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace udtcat::ssh {
namespace {

using namespace std::chrono_literals;
using Decision = PathSelector::Decision;

/// A session of which somebody looks four times a second, and that moves as it is told.
class PathSelectorTest : public testing::Test {
 protected:
  struct Path {
    double megabits = 100;
    double loss = 0;
    bool answers = true;
    bool reports = true;
    bool holds = true;    // the sender has more to send
    bool arrives = true;  // here, and not at the peer
  };

  /// returns  what it was told to do
  std::vector<Decision> run_for(std::chrono::milliseconds time) {
    std::vector<Decision> told;
    for (const auto end = now.at + time; now.at < end;) {
      constexpr auto kStep = 250ms;
      const Path& path = now.on_ssh ? ssh : udp;
      now.at += kStep;
      now.answers = path.answers;
      if (path.reports) now.reported += kStep;
      if (path.holds) now.held_by_path += kStep;
      const double bytes = path.answers ? path.megabits * 125'000 / 4 : 0;
      const double packets = bytes / 1'400 / (1 - path.loss);
      now.bytes_carried += static_cast<std::uint64_t>(bytes);
      if (path.arrives) now.bytes_arrived += static_cast<std::uint64_t>(bytes);
      now.packets_sent += static_cast<std::uint64_t>(packets);
      now.packets_lost += static_cast<std::uint64_t>(packets * path.loss);
      const Decision decision = choice.next(now);
      if (decision != Decision::none) told.push_back(decision);
      const bool to_ssh = decision == Decision::to_ssh && ssh_can && ssh.answers;
      const bool to_udp = decision == Decision::to_udp && udp.answers;
      if (to_ssh) now.on_ssh = true;
      if (to_udp) now.on_ssh = false;
    }
    return told;
  }

  PathSelector choice;
  PathSelector::Sample now;
  Path udp;
  Path ssh;
  bool ssh_can = true;
};

TEST_F(PathSelectorTest, StayWithUdpThatIsFastOrLosesNothing) {
  udp = {.megabits = 500, .loss = 0.1};
  EXPECT_TRUE(run_for(10s).empty());
  udp = {.megabits = 20, .loss = 0.01};
  EXPECT_TRUE(run_for(10s).empty());
  EXPECT_FALSE(choice.ssh_is_faster());
}

TEST_F(PathSelectorTest, StayWithUdpThatLosesByChanceWhereTcpIsSlower) {
  udp = {.megabits = 20, .loss = 0.05};
  now.loses_by_chance = true;
  EXPECT_TRUE(run_for(10s).empty());
}

TEST_F(PathSelectorTest, StayWithUdpWhoseFarConsumerTakesNothingAndHasNothingToReport) {
  udp = {.megabits = 4, .reports = false, .holds = false, .arrives = false};
  EXPECT_TRUE(run_for(10s).empty());
}

TEST_F(PathSelectorTest, StayWithUdpWhoseRateStillGrows) {
  for (double megabits = 0.5; megabits < 9; megabits *= 1.5) {
    udp = {.megabits = megabits};
    EXPECT_TRUE(run_for(1s).empty()) << megabits;
  }
}

TEST_F(PathSelectorTest, ReturnToUdpThatWasBusyHalfOfTheTimeWhereSshIsNoFaster) {
  ssh = {.megabits = 8};
  for (int i = 0; i < 6; ++i) {
    udp = i % 2 == 0 ? Path{.megabits = 8} : Path{.megabits = 0.1, .holds = false};
    run_for(2s);
  }
  run_for(4s);
  EXPECT_FALSE(now.on_ssh);
  EXPECT_FALSE(choice.ssh_is_faster());
}

TEST_F(PathSelectorTest, LeaveUdpThatIsSlowAndLossyForSshThatIsFaster) {
  udp = {.megabits = 1, .loss = 0.2};
  EXPECT_EQ(run_for(2500ms), std::vector{Decision::to_ssh});
  run_for(250ms);
  EXPECT_TRUE(choice.ssh_is_faster()) << "100 times as much is no late report";
  EXPECT_TRUE(run_for(20s).empty());
  EXPECT_TRUE(now.on_ssh && choice.ssh_is_faster());
  EXPECT_EQ(run_for(60s), (std::vector{Decision::to_udp, Decision::to_ssh})) << "UDP is judged anew, once";
  EXPECT_TRUE(now.on_ssh && choice.ssh_is_faster());
  EXPECT_NEAR(static_cast<double>(choice.slow_rate()->bits_per_second()), 1e6, 1e5);
}

TEST_F(PathSelectorTest, ComeBackWhereSshIsNoFaster) {
  udp = {.megabits = 10, .loss = 0.1};
  ssh = {.megabits = 11};
  EXPECT_EQ(run_for(8s), (std::vector{Decision::to_ssh, Decision::to_udp}));
  EXPECT_EQ(run_for(60s), (std::vector{Decision::to_ssh, Decision::to_udp})) << "UDP is judged anew, once";
  EXPECT_TRUE(run_for(60s).empty());
  EXPECT_TRUE(!now.on_ssh && !choice.ssh_is_faster());
}

TEST_F(PathSelectorTest, DoNotCountAPauseDuringTheTrialOfSsh) {
  udp = {.megabits = 1, .loss = 0.2};
  run_for(2500ms);
  ASSERT_TRUE(now.on_ssh);
  ssh.megabits = 4;
  run_for(1s);
  ssh = {.megabits = 0, .holds = false};
  EXPECT_TRUE(run_for(20s).empty());
  EXPECT_TRUE(now.on_ssh && choice.ssh_is_faster());
}

TEST_F(PathSelectorTest, IgnoreAFewPacketsThatCameWithTheMove) {
  udp = {.megabits = 8, .loss = 0.1};
  EXPECT_EQ(run_for(2250ms), std::vector{Decision::to_ssh});
  now.at += 5ms;
  now.bytes_carried += 100'000;
  std::ignore = choice.next(now);
  EXPECT_FALSE(choice.ssh_is_faster());
}

TEST_F(PathSelectorTest, LeaveUdpWhereThePeersReportsAreLate) {
  udp = {.megabits = 1, .reports = false};
  EXPECT_EQ(run_for(2500ms), std::vector{Decision::to_ssh});
  EXPECT_TRUE(now.on_ssh);
}

TEST_F(PathSelectorTest, StayWithUdpWhileNothingIsUnderWay) {
  for (int i = 0; i < 40; ++i) {
    now.at += 250ms;
    EXPECT_EQ(choice.next(now), Decision::none);
  }
}

TEST_F(PathSelectorTest, StayWithUdpForACommandThatHasLittleToSay) {
  udp = {.megabits = 1, .loss = 0.1, .holds = false};
  EXPECT_TRUE(run_for(10s).empty());
}

TEST_F(PathSelectorTest, DoNotCountAnOutageAsARate) {
  udp = {.megabits = 50, .loss = 0.3};
  EXPECT_TRUE(run_for(1s).empty());
  udp.megabits = 0;
  EXPECT_TRUE(run_for(2s).empty());
  udp = {.megabits = 50};
  EXPECT_TRUE(run_for(10s).empty());
}

TEST_F(PathSelectorTest, LeaveUdpAlsoWhereItLosesThePeersReports) {
  ssh = {.megabits = 100};
  for (int i = 0; i < 10; ++i) {
    now.at += 250ms;
    now.held_by_path += 250ms;
    now.packets_sent += 100;
    now.packets_lost += 80;
    now.bytes_carried += 28'000;
    if (choice.next(now) == Decision::to_ssh) return;
  }
  FAIL() << "stays";
}

TEST_F(PathSelectorTest, LeaveUdpWhereMostOfThePeersPacketsComeAgain) {
  for (int i = 0; i < 10; ++i) {
    now.at += 250ms;
    now.packets_late += 20;
    now.reported += 250ms;
    now.bytes_carried += 28'000;
    if (choice.next(now) == Decision::to_ssh) return;
  }
  FAIL() << "stays";
}

TEST_F(PathSelectorTest, RememberSshThatFinishedBeforeTheFirstSample) {
  udp = {.megabits = 1, .loss = 0.2};
  EXPECT_EQ(run_for(2250ms), std::vector{Decision::to_ssh});
  now.at += 50ms;
  now.bytes_carried += 3'000'000;
  std::ignore = choice.next(now);
  EXPECT_TRUE(choice.ssh_is_faster());
}

TEST_F(PathSelectorTest, LeaveUdpThatIsVerySlowWithoutALoss) {
  udp = {.megabits = 1};
  EXPECT_EQ(run_for(2500ms), std::vector{Decision::to_ssh}) << "a limit that was found is kept to";
}

/// Proves: rsh.asks-udp-twice
TEST_F(PathSelectorTest, LeaveUdpThatIsSilentAndLookForItAgainTwice) {
  udp.answers = false;
  EXPECT_EQ(run_for(1s), std::vector{Decision::to_ssh});
  EXPECT_EQ(run_for(31s), std::vector{Decision::to_udp}) << "nobody answers there";
  EXPECT_TRUE(now.on_ssh);
  udp.answers = true;
  EXPECT_EQ(run_for(31s), std::vector{Decision::to_udp});
  EXPECT_FALSE(now.on_ssh);
  udp.answers = false;
  EXPECT_EQ(run_for(120s), std::vector{Decision::to_ssh});
  EXPECT_FALSE(choice.ssh_is_faster()) << "an outage says nothing about the next command";
}

/// Proves: rsh.asks-udp-twice
TEST_F(PathSelectorTest, AskAtUdpTwiceAndNoMoreWhereNobodyAnswersThere) {
  udp.answers = false;
  EXPECT_EQ(run_for(300s), (std::vector{Decision::to_ssh, Decision::to_udp, Decision::to_udp}));
  EXPECT_TRUE(now.on_ssh);
}

TEST_F(PathSelectorTest, AskAgainWhereSshDoesNotAnswerEither) {
  udp.answers = ssh_can = false;
  EXPECT_EQ(run_for(21s).size(), 3U);
  udp.answers = true;
  EXPECT_EQ(run_for(5s), std::vector{Decision::to_udp}) << "the question at ssh is withdrawn";
}

TEST_F(PathSelectorTest, LeaveSshThatIsSilentForUdp) {
  udp.answers = false;
  run_for(1s);
  ASSERT_TRUE(now.on_ssh);
  ssh.answers = false;
  udp.answers = true;
  EXPECT_EQ(run_for(3s), std::vector{Decision::to_udp});
  EXPECT_FALSE(now.on_ssh);
}

// A question that was asked on UDP and not answered there.
TEST_F(PathSelectorTest, StayWithSshThatAnswersSoonAfterASilenceThatBeganOnUdp) {
  udp = {.megabits = 1, .loss = 0.2};
  run_for(2500ms);
  ASSERT_TRUE(now.on_ssh);
  ssh.answers = false;
  EXPECT_TRUE(run_for(1s).empty());
  ssh.answers = true;
  EXPECT_TRUE(run_for(10s).empty());
  EXPECT_TRUE(now.on_ssh && choice.ssh_is_faster());
}

TEST_F(PathSelectorTest, TryAgainSoonWhereSshWasSilentDuringItsTrial) {
  udp = {.megabits = 1, .loss = 0.2};
  run_for(2500ms);
  ssh.answers = false;
  EXPECT_EQ(run_for(2500ms), std::vector{Decision::to_udp});
  ssh.answers = true;
  EXPECT_EQ(run_for(2500ms), std::vector{Decision::to_ssh}) << "UDP is as slow as it was";
  EXPECT_TRUE(run_for(10s).empty());
  EXPECT_TRUE(now.on_ssh && choice.ssh_is_faster());
}

/// Proves: rsh.judges-udp-twice
TEST_F(PathSelectorTest, TryAgainTwiceWhereSshIsSilentEachTime) {
  udp = {.megabits = 1, .loss = 0.2};
  for (int i = 0; i < 3; ++i) {
    ssh.answers = true;
    EXPECT_EQ(run_for(2750ms), std::vector{Decision::to_ssh}) << i;
    ssh.answers = false;
    EXPECT_EQ(run_for(2750ms), std::vector{Decision::to_udp}) << i;
  }
  ssh.answers = true;
  EXPECT_TRUE(run_for(20s).empty());
}

}  // namespace
}  // namespace udtcat::ssh
