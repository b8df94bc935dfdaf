// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/liveness.hpp"

#include <gtest/gtest.h>

namespace udtcat::connection {
namespace {

using namespace std::chrono_literals;

using State = Liveness::State;

const Liveness::TimePoint kStart{};

TEST(Liveness, LosesAPeerAfterTheIdleTimeout) {
  Liveness liveness(40s, Liveness::Role::leads, kStart);
  EXPECT_EQ(liveness.state(kStart + 39s, {}), State::alive);
  EXPECT_EQ(liveness.state(kStart + 40s, {}), State::timed_out);
}

TEST(Liveness, TakesAnyByteAsASignOfLife) {
  Liveness liveness(40s, Liveness::Role::leads, kStart);
  liveness.on_bytes_received(1, kStart + 30s);
  EXPECT_EQ(liveness.state(kStart + 69s, {}), State::alive);
  liveness.on_bytes_received(1, kStart + 69s);
  EXPECT_EQ(liveness.state(kStart + 70s, {}), State::timed_out) << "the same count is no new byte";
}

TEST(Liveness, BelievesAClosedPortOnlyBesideSilence) {
  Liveness liveness(40s, Liveness::Role::leads, kStart);
  liveness.on_asked(kStart);
  EXPECT_EQ(liveness.state(kStart + 2s, kStart), State::alive);
  EXPECT_EQ(liveness.state(kStart + 3s, kStart), State::port_closed);
  Liveness idle(40s, Liveness::Role::leads, kStart);
  EXPECT_EQ(idle.state(kStart + 4s, kStart), State::alive) << "it was not asked";
}

TEST(Liveness, PingsOnlyWhenItHasSentNothing) {
  Liveness liveness(40s, Liveness::Role::leads, kStart);
  EXPECT_FALSE(liveness.ping_due(kStart + 999ms));
  EXPECT_TRUE(liveness.ping_due(kStart + 1s));
  liveness.on_sent(kStart + 1s);
  EXPECT_FALSE(liveness.ping_due(kStart + 1999ms));
}

TEST(Liveness, HoldsBackAndPingsLessWhileThePeerOwesAnAnswer) {
  Liveness liveness(40s, Liveness::Role::leads, kStart);
  liveness.on_sent(kStart);
  EXPECT_FALSE(liveness.quiet(kStart + 1h)) << "nothing was said that it would answer";
  liveness.on_asked(kStart);
  liveness.on_asked(kStart + 2499ms);
  liveness.on_sent(kStart + 2499ms);
  EXPECT_FALSE(liveness.quiet(kStart + 2499ms));
  EXPECT_TRUE(liveness.quiet(kStart + 2500ms)) << "since the first of them";
  EXPECT_FALSE(liveness.ping_due(kStart + 4498ms));
  EXPECT_TRUE(liveness.ping_due(kStart + 4499ms));
  liveness.on_bytes_received(1, kStart + 4600ms);
  EXPECT_FALSE(liveness.quiet(kStart + 4600ms));
}

TEST(Liveness, PingsLessOnceNoStreamHasMovedForAWhile) {
  Liveness liveness(40s, Liveness::Role::leads, kStart);
  liveness.on_tick(kStart + 10s);
  liveness.on_sent(kStart + 10s);
  liveness.on_bytes_received(1, kStart + 10100ms);
  EXPECT_FALSE(liveness.ping_due(kStart + 14999ms));
  EXPECT_TRUE(liveness.ping_due(kStart + 15s));
  EXPECT_TRUE(liveness.on_payload(kStart + 12s)) << "the next tick is earlier now";
  EXPECT_FALSE(liveness.on_payload(kStart + 12s));
  EXPECT_TRUE(liveness.ping_due(kStart + 12s));
}

TEST(Liveness, IsNotIdleWhileABlockComesSlowly) {
  Liveness liveness(40s, Liveness::Role::leads, kStart);
  liveness.on_sent(kStart + 9s);
  liveness.on_bytes_received(100, kStart + 9s);
  EXPECT_FALSE(liveness.ping_due(kStart + 12s)) << "a PING and a PONG are nothing";
  liveness.on_bytes_received(10'000, kStart + 10s);
  EXPECT_TRUE(liveness.ping_due(kStart + 12s));
}

TEST(Liveness, PingsOftenWhereThePeerIsLostSoon) {
  Liveness liveness(3s, Liveness::Role::leads, kStart);
  liveness.on_tick(kStart + 10s);
  EXPECT_TRUE(liveness.ping_due(kStart + 1s));
}

TEST(Liveness, LeavesTheFirstWordToTheEndThatLeads) {
  Liveness leads(40s, Liveness::Role::leads, kStart);
  Liveness follows(40s, Liveness::Role::follows, kStart);
  EXPECT_TRUE(leads.ping_due(kStart + 1s));
  EXPECT_FALSE(follows.ping_due(kStart + 1249ms));
  EXPECT_TRUE(follows.ping_due(kStart + 1250ms)) << "the other may be an older one that waits for ours";
}

TEST(Liveness, LooksWhenThereIsSomethingToSayOrToMiss) {
  Liveness liveness(40s, Liveness::Role::leads, kStart);
  liveness.on_sent(kStart + 1s);
  EXPECT_EQ(liveness.next_tick(kStart + 1s), kStart + 2s);
  liveness.on_tick(kStart + 10s);
  EXPECT_EQ(liveness.next_tick(kStart + 10s), kStart + 10250ms) << "a PING is due, but a tick never comes at once";
  liveness.on_sent(kStart + 10s);
  liveness.on_asked(kStart + 10s);
  EXPECT_EQ(liveness.next_tick(kStart + 10s), kStart + 12500ms) << "the answer should have come by then";
  EXPECT_EQ(liveness.next_tick(kStart + 12500ms), kStart + 12750ms) << "it has not, and may come at any moment";
  liveness.on_bytes_received(1, kStart + 12750ms);
  EXPECT_EQ(liveness.next_tick(kStart + 12750ms), kStart + 15s);
  EXPECT_TRUE(liveness.on_payload(kStart + 13s));
  EXPECT_EQ(liveness.next_tick(kStart + 13s), kStart + 13250ms) << "bytes move";
}

TEST(Liveness, HoldsNothingBackAfterALongIdleTimeInWhichThePeerAnswers) {
  Liveness liveness(40s, Liveness::Role::leads, kStart);
  std::uint64_t received_bytes = 0;
  int pings = 0;
  for (auto now = liveness.next_tick(kStart); now < kStart + 10min; now = liveness.next_tick(now)) {
    ASSERT_FALSE(liveness.quiet(now - 1ns)) << pings << " PINGs: until the tick, what has come is not known";
    liveness.on_tick(now);
    liveness.on_bytes_received(received_bytes, now);
    if (!liveness.ping_due(now)) continue;
    liveness.on_sent(now);
    liveness.on_asked(now);
    received_bytes += 20;  // a PONG, at once
    ++pings;
  }
  EXPECT_GT(pings, 100);
}

TEST(Liveness, DoesNotBlameThePeerForTimeInWhichWeWereStopped) {
  Liveness liveness(40s, Liveness::Role::leads, kStart);
  liveness.on_tick(kStart + 1s);
  liveness.on_tick(kStart + 1h);
  EXPECT_EQ(liveness.state(kStart + 1h, {}), State::alive);
  EXPECT_EQ(liveness.state(kStart + 1h + 39s, {}), State::timed_out) << "the second before the stop counts";
}

}  // namespace
}  // namespace udtcat::connection
