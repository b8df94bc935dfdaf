#include "tool/refusal_log.hpp"

#include <gtest/gtest.h>

namespace udtcat::tool {
namespace {

using namespace std::chrono_literals;

class RefusalDigestTest : public testing::Test {
 protected:
  /// How many of `count` refusals were told, and not only counted.
  int told_of(int count) {
    int told = 0;
    for (int i = 0; i < count; ++i) told += digest_.add(peer_, why_, now_).has_value() ? 1 : 0;
    return told;
  }
  const Endpoint peer_ = resolve({"192.0.2.7", 5555}, AddressFamily::any).value().front();
  const Error why_{Errc::authentication_failed, "prove the key", ""};
  RefusalDigest::TimePoint now_{1h};
  RefusalDigest digest_;
};

TEST_F(RefusalDigestTest, SaysWhoAndWhy) {
  EXPECT_EQ(digest_.add(peer_, why_, now_), "refused 192.0.2.7:5555: prove the key: the peer does not hold our key");
}

TEST_F(RefusalDigestTest, TellsTheFirstFewAndCountsTheRest) {
  EXPECT_EQ(told_of(100), 5);
  EXPECT_EQ(digest_.count_due(), now_ + 10s);
  EXPECT_EQ(digest_.take_count(), "refused 95 more in the last 10 s");
  EXPECT_FALSE(digest_.count_due());
  EXPECT_FALSE(digest_.take_count());
}

TEST_F(RefusalDigestTest, HasNothingToCountWhereAllWereTold) {
  EXPECT_EQ(told_of(5), 5);
  EXPECT_FALSE(digest_.count_due());
}

TEST_F(RefusalDigestTest, TellsAgainAfterAQuietInterval) {
  EXPECT_EQ(told_of(5), 5);
  now_ += 10s;
  EXPECT_EQ(told_of(6), 5);
}

TEST_F(RefusalDigestTest, TellsAgainAfterItsCount) {
  EXPECT_EQ(told_of(7), 5);
  now_ += 10s;
  EXPECT_TRUE(digest_.take_count());
  EXPECT_EQ(told_of(7), 5);
}

TEST_F(RefusalDigestTest, SaysAtMostSixLinesAnInterval) {
  int lines = 0;
  for (int second = 0; second < 100; ++second, now_ += 1s) {
    const auto due = digest_.count_due();
    if (due && *due <= now_) lines += digest_.take_count().has_value() ? 1 : 0;
    lines += told_of(50);
  }
  EXPECT_LE(lines, 6 * 11);
}

}  // namespace
}  // namespace udtcat::tool
