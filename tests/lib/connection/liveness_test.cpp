#include "lib/connection/liveness.hpp"

#include <gtest/gtest.h>

namespace udtcat::connection {
namespace {

using namespace std::chrono_literals;
using Verdict = Liveness::Verdict;

const Liveness::TimePoint kStart{};

TEST(Liveness, LosesAPeerAfterTheIdleTimeout) {
  Liveness liveness(40s, kStart);
  EXPECT_EQ(liveness.verdict(kStart + 39s, {}), Verdict::alive);
  EXPECT_EQ(liveness.verdict(kStart + 40s, {}), Verdict::timed_out);
}

TEST(Liveness, TakesAnyByteAsASignOfLife) {
  Liveness liveness(40s, kStart);
  liveness.on_bytes_received(1, kStart + 30s);
  EXPECT_EQ(liveness.verdict(kStart + 69s, {}), Verdict::alive);
  liveness.on_bytes_received(1, kStart + 69s);
  EXPECT_EQ(liveness.verdict(kStart + 70s, {}), Verdict::timed_out) << "the same count is no new byte";
}

TEST(Liveness, BelievesAClosedPortOnlyBesideSilence) {
  Liveness liveness(40s, kStart);
  EXPECT_EQ(liveness.verdict(kStart + 2s, kStart), Verdict::alive);
  EXPECT_EQ(liveness.verdict(kStart + 3s, kStart), Verdict::port_closed);
}

TEST(Liveness, PingsOnlyWhenItHasSentNothing) {
  Liveness liveness(40s, kStart);
  EXPECT_FALSE(liveness.ping_due(kStart + 999ms));
  EXPECT_TRUE(liveness.ping_due(kStart + 1s));
  liveness.on_sent(kStart + 1s);
  EXPECT_FALSE(liveness.ping_due(kStart + 1999ms));
}

TEST(Liveness, HoldsBackAndPingsLessWhileThePeerIsQuiet) {
  Liveness liveness(40s, kStart);
  EXPECT_FALSE(liveness.quiet(kStart + 2499ms));
  EXPECT_TRUE(liveness.quiet(kStart + 2500ms));
  liveness.on_sent(kStart + 2500ms);
  EXPECT_FALSE(liveness.ping_due(kStart + 4499ms));
  EXPECT_TRUE(liveness.ping_due(kStart + 4500ms));
  liveness.on_bytes_received(1, kStart + 4600ms);
  EXPECT_FALSE(liveness.quiet(kStart + 4600ms));
}

TEST(Liveness, DoesNotBlameThePeerForTimeInWhichWeWereStopped) {
  Liveness liveness(40s, kStart);
  liveness.on_tick(kStart + 1s);
  liveness.on_tick(kStart + 1h);
  EXPECT_EQ(liveness.verdict(kStart + 1h, {}), Verdict::alive);
  EXPECT_EQ(liveness.verdict(kStart + 1h + 39s, {}), Verdict::timed_out) << "the second before the stop counts";
}

}  // namespace
}  // namespace udtcat::connection
