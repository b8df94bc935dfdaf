// SPDX-License-Identifier: Apache-2.0
#include "forward/absence.hpp"

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

struct AbsenceTest : testing::Test {
  std::optional<std::string> fails(const Error& error) { return absence.on_failure(error, now += 1s); }

  Absence::TimePoint now{1h};
  Absence absence{"far:9000", now};
};

TEST_F(AbsenceTest, EndsWithALineWhereTheFirstAttemptSucceedsAndIsNoNewsOfFurtherSessions) {
  EXPECT_EQ(absence.end(now, kAt), "the session with far:9000 at 127.0.0.1:9000 stands");
  EXPECT_EQ(absence.end(now, kAt), std::nullopt);
  EXPECT_FALSE(absence.picture(now));
}

TEST_F(AbsenceTest, IsToldOnceForEachKindOfReasonAndAtItsEnd) {
  EXPECT_EQ(fails(kClosed), "reach far:9000 for 2 s: the port is closed; still dialling");
  EXPECT_EQ(fails(kSilent), std::nullopt) << "it is as unreachable as before";
  EXPECT_EQ(fails(kOtherKey), "connect to far:9000: the peer does not hold our key; still dialling");
  EXPECT_EQ(fails(kOtherKey), std::nullopt);
  EXPECT_EQ(fails(kClosed), "reach far:9000 for 2 s: the port is closed; still dialling");
  EXPECT_EQ(absence.end(now + 2s, kAt), "far:9000 at 127.0.0.1:9000 is there after 7 s");
  absence.begin(kGone, now);
  EXPECT_EQ(absence.end(now + 12s, kAt), "far:9000 at 127.0.0.1:9000 is back after 12 s");
}

TEST_F(AbsenceTest, OfASilentPeerCountsFromARefusal) {
  std::ignore = absence.end(now, kAt);
  EXPECT_EQ(fails(kSilent), std::nullopt) << "a session may go on";
  EXPECT_FALSE(absence.picture(now));
  EXPECT_NE(fails(kOtherKey), std::nullopt);
  absence.begin(kGone, now += 5s);
  EXPECT_EQ(absence.end(now, kAt), "far:9000 at 127.0.0.1:9000 is back after 5 s");
}

TEST_F(AbsenceTest, HasAPictureWithTheLatestReason) {
  EXPECT_EQ(absence.picture(now)->reason, "");
  std::ignore = fails(kClosed);
  std::ignore = fails(kSilent);
  const auto picture = absence.picture(now + 3s);
  ASSERT_TRUE(picture);
  EXPECT_EQ(picture->peer, "far:9000");
  EXPECT_EQ(picture->age, 5s);
  EXPECT_EQ(picture->reason, kSilent.message());
}

}  // namespace
}  // namespace udtcat::forward
