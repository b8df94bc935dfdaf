// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/rate_limited_log.hpp"

#include <cerrno>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include "lib/core/user_text.hpp"

namespace udtcat::bridge {
namespace {

using namespace std::chrono_literals;

const Error kRefused{Errc::local_connect_failed, "connect tcp db:5432", "connection refused"};
const Error kFull{Errc::local_write_failed, "writing to tcp db:5432 failed", "no space left on device"};

struct LogRateLimitTest : ::testing::Test {
  /// How many of `count` are told at once.
  int add(const Error& error, int count = 1) {
    int told = 0;
    for (int i = 0; i < count; ++i) told += limit.add({}, error, now).has_value() ? 1 : 0;
    return told;
  }
  LogRateLimit limit;
  LogRateLimit::TimePoint now{1h};
};

TEST_F(LogRateLimitTest, TellsTheFirstOfEachKindAtOnce) {
  EXPECT_EQ(limit.add({}, kRefused, now)->error.message(), kRefused.message());
  EXPECT_EQ(limit.add({}, kFull, now)->error.message(), kFull.message());
  EXPECT_FALSE(limit.next_due());
}

TEST_F(LogRateLimitTest, CountsTheRestAndTellsThemWhenTheIntervalIsOver) {
  EXPECT_EQ(add(kRefused, 58), 1);
  EXPECT_EQ(limit.next_due(), now + kLogInterval);
  EXPECT_TRUE(limit.take_due(now + kLogInterval - 1ms).empty());
  const auto lines = limit.take_due(now + kLogInterval);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].error.message(), "connect tcp db:5432: connection refused (57 more like it)");
  EXPECT_FALSE(limit.next_due());
}

TEST_F(LogRateLimitTest, TellsNoMoreThanOneLineAnInterval) {
  add(kRefused, 2);
  now += kLogInterval;
  EXPECT_EQ(limit.take_due(now).size(), 1U);
  EXPECT_EQ(add(kRefused, 5), 0);
  EXPECT_EQ(limit.next_due(), now + kLogInterval);
}

TEST_F(LogRateLimitTest, TellsWhatComesAgainAfterAQuietIntervalAtOnce) {
  add(kRefused);
  now += kLogInterval;
  EXPECT_EQ(add(kRefused), 1);
  EXPECT_EQ(add(kRefused), 0);
}

TEST_F(LogRateLimitTest, CountsOnWhenItsCallerIsLate) {
  add(kRefused, 2);
  now += 2 * kLogInterval;
  EXPECT_EQ(add(kRefused), 0);
  EXPECT_NE(limit.take_due(now).at(0).error.cause.find("(2 more like it)"), std::string::npos);
}

TEST_F(LogRateLimitTest, NamesTheLatestPlaceAndACauseWhereThereWasNone) {
  const Error bare{Errc::remote_connect_failed, "stream", ""};
  const Endpoint latest = Endpoint().with_port(0);
  add(bare);
  EXPECT_FALSE(limit.add(latest, bare, now));
  const auto lines = limit.take_due(now + kLogInterval);
  EXPECT_EQ(lines.at(0).where, latest);
  EXPECT_EQ(lines.at(0).error.message(), bare.message() + " (1 more like it)");
}

TEST_F(LogRateLimitTest, KeepsKindsApartByTheTimeTheyWereTold) {
  add(kRefused, 2);
  now += 1s;
  add(kFull, 2);
  EXPECT_EQ(limit.next_due(), now - 1s + kLogInterval);
  EXPECT_EQ(limit.take_due(now - 1s + kLogInterval).size(), 1U);
  EXPECT_EQ(limit.next_due(), now + kLogInterval);
}

TEST_F(LogRateLimitTest, ForgetsTheOldestOfTooManyKinds) {
  for (std::size_t i = 0; i <= kMaxLogKinds; ++i) add({Errc::stream_refused, std::to_string(i), ""}, 2);
  EXPECT_EQ(limit.take_due(now + kLogInterval).size(), kMaxLogKinds);
}

TEST(IsLoggable, LeavesOutPlainDisconnectsAndWhatOthersTell) {
  for (const int plain : {EPIPE, ECONNRESET, ENOTCONN}) {
    EXPECT_FALSE(is_loggable({Errc::local_write_failed, "writing", core::errno_text(plain)}));
    EXPECT_FALSE(is_loggable({Errc::local_read_failed, "reading", core::errno_text(plain)}));
  }
  for (const Errc others : {Errc::remote_read_failed, Errc::remote_write_failed, Errc::peer_interrupted,
                            Errc::interrupted, Errc::peer_lost, Errc::connection_broken, Errc::tampered})
    EXPECT_FALSE(is_loggable({others, "stream", ""}));
}

TEST(IsLoggable, HasServicesThatAreDownAndOurOwnResources) {
  EXPECT_TRUE(is_loggable(kRefused));
  EXPECT_TRUE(is_loggable({Errc::remote_connect_failed, "stream", ""}));
  EXPECT_TRUE(is_loggable({Errc::stream_refused, "stream", ""}));
  EXPECT_TRUE(is_loggable({Errc::local_read_failed, "reading", core::errno_text(ETIMEDOUT)}));
  EXPECT_TRUE(is_loggable({Errc::out_of_resources, "accept", core::errno_text(EMFILE)}));
}

TEST(LogRateLimit, GoesByTheKindThatItsOwnerNames) {
  LogRateLimit by_code([](const Error& error) { return make_error_code(error.code).message(); });
  const LogRateLimit::TimePoint now{1h};
  EXPECT_TRUE(by_code.add({}, {Errc::stream_refused, "a stranger's text", ""}, now));
  EXPECT_FALSE(by_code.add({}, {Errc::stream_refused, "another of his", ""}, now));
  EXPECT_TRUE(by_code.add({}, {Errc::tampered, "a stranger's text", ""}, now));
}

TEST(LogRateLimit, TellsTheFirstFewOfAKindAtOnceWhereItsOwnerWantsThem) {
  LogRateLimit few(&Error::message, 2);
  const LogRateLimit::TimePoint now{1h};
  const Error error{Errc::peer_lost, "a", "b"};
  EXPECT_TRUE(few.add({}, error, now));
  EXPECT_TRUE(few.add({}, error, now + 1s));
  EXPECT_FALSE(few.add({}, error, now + 2s));
  EXPECT_EQ(few.take_due(now + kLogInterval).size(), 1U);
}

struct RateLimitedLogTest : ::testing::Test {
  boost::asio::io_context io;
  std::vector<std::string> told;
  RateLimitedLog reporter{io, [this](const Endpoint&, const Error& error) { told.push_back(error.message()); }};
};

TEST_F(RateLimitedLogTest, TellsTheFirstAtOnceAndWantsNoTimerForIt) {
  reporter.report({}, {Errc::stream_refused, "a", "b"});
  EXPECT_EQ(told, std::vector<std::string>{"a: b"});
  EXPECT_EQ(io.poll(), 0U);
  EXPECT_TRUE(io.stopped()) << "nothing is left to wait for";
}

TEST_F(RateLimitedLogTest, WaitsToTellTheNextOfItsKind) {
  reporter.report({}, {Errc::stream_refused, "a", "b"});
  reporter.report({}, {Errc::stream_refused, "a", "b"});
  io.poll();
  EXPECT_EQ(told.size(), 1U);
  EXPECT_FALSE(io.stopped()) << "the timer is set";
}

}  // namespace
}  // namespace udtcat::bridge
