// SPDX-License-Identifier: Apache-2.0
#include "forward/outage.hpp"

#include <gtest/gtest.h>

#include "support/addresses.hpp"

namespace udtcat::forward {
namespace {

using namespace std::chrono_literals;

const Error kClosed{Errc::cannot_reach, "reach far:9000 for 2 s", "the port is closed"};
const Error kSilent{Errc::cannot_reach, "reach far:9000 for 10 s", "nobody answered"};
const Error kOtherKey{Errc::authentication_failed, "connect to far:9000", "the peer does not hold our key"};
const Error kGone{Errc::peer_lost, "peer far:9000 is lost", "nothing has arrived for 40 s"};

const Endpoint kAt = test::loopback(AddressFamily::ipv4, 9000);

struct OutageTest : testing::Test {
  std::optional<std::string> fails(const Error& error) { return outage.on_failure(error, now += 1s); }

  Outage::TimePoint now{1h};
  Outage outage{"far:9000", now};
};

TEST_F(OutageTest, EndsWithALineWhereTheFirstAttemptSucceedsAndIsNoNewsOfFurtherSessions) {
  EXPECT_EQ(outage.end(now, kAt), "the session with far:9000 at 127.0.0.1:9000 stands");
  EXPECT_EQ(outage.end(now, kAt), std::nullopt);
  EXPECT_FALSE(outage.snapshot(now));
}

TEST_F(OutageTest, IsToldOnceForEachKindOfReasonAndAtItsEnd) {
  EXPECT_EQ(fails(kClosed), "reach far:9000 for 2 s: the port is closed; still dialling");
  EXPECT_EQ(fails(kSilent), std::nullopt) << "it is as unreachable as before";
  EXPECT_EQ(fails(kOtherKey), "connect to far:9000: the peer does not hold our key; still dialling");
  EXPECT_EQ(fails(kOtherKey), std::nullopt);
  EXPECT_EQ(fails(kClosed), "reach far:9000 for 2 s: the port is closed; still dialling");
  EXPECT_EQ(outage.end(now + 2s, kAt), "far:9000 at 127.0.0.1:9000 is there after 7 s");
  outage.begin(kGone, now);
  EXPECT_EQ(outage.end(now + 12s, kAt), "far:9000 at 127.0.0.1:9000 is back after 12 s");
}

TEST_F(OutageTest, OfASilentPeerCountsFromARefusal) {
  std::ignore = outage.end(now, kAt);
  EXPECT_EQ(fails(kSilent), std::nullopt) << "a session may go on";
  EXPECT_FALSE(outage.snapshot(now));
  EXPECT_NE(fails(kOtherKey), std::nullopt);
  outage.begin(kGone, now += 5s);
  EXPECT_EQ(outage.end(now, kAt), "far:9000 at 127.0.0.1:9000 is back after 5 s");
}

TEST_F(OutageTest, HasASnapshotWithTheLatestReason) {
  EXPECT_EQ(outage.snapshot(now)->reason, "");
  std::ignore = fails(kClosed);
  std::ignore = fails(kSilent);
  const auto snapshot = outage.snapshot(now + 3s);
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->peer, "far:9000");
  EXPECT_EQ(snapshot->age, 5s);
  EXPECT_EQ(snapshot->reason, kSilent.message());
}

}  // namespace
}  // namespace udtcat::forward
