// SPDX-License-Identifier: Apache-2.0
#include "tool/run/event_log.hpp"

#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tool/run/transfer_event.hpp"

namespace udtcat::tool {
namespace {

using namespace std::chrono_literals;

LogEvent small_transfer(std::uint64_t bytes = 10) {
  return transfer_event({.peer = "alice",
                         .address = "192.0.2.1:1",
                         .object = "f",
                         .direction = kReceived,
                         .bytes_received = bytes,
                         .files = 1});
}

class EventLimitTest : public testing::Test {
 protected:
  int add(const std::string& kind, int count) {
    int told = 0;
    for (int i = 0; i < count; ++i) told += limit.add(kind, small_transfer(), now).has_value() ? 1 : 0;
    return told;
  }
  EventLimit limit{4};
  EventLimit::TimePoint now{1h};
};

TEST_F(EventLimitTest, TellsTheFirstFewOfEachKindAtOnce) {
  EXPECT_EQ(add("alice", 100), 4);
  EXPECT_EQ(add("bob", 3), 3);
}

TEST_F(EventLimitTest, SumsUpTheRestAtTheEndOfTheInterval) {
  add("alice", 10);
  EXPECT_EQ(limit.next_due(), now + EventLimit::kInterval);
  EXPECT_TRUE(limit.take_due(now + EventLimit::kInterval - 1ms).empty());
  const auto due = limit.take_due(now + EventLimit::kInterval);
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0].count, 6U);
  EXPECT_EQ(due[0].bytes_received, 60U);
  EXPECT_EQ(due[0].files, 6U);
  EXPECT_FALSE(due[0].object);
  EXPECT_FALSE(due[0].duration);
  EXPECT_EQ(due[0].message, "alice (192.0.2.1:1): 6 more transfers, 6 files, 60 B received");
  EXPECT_FALSE(limit.next_due());
}

TEST_F(EventLimitTest, GivesALineBackWithEachIntervalUpToTheFirstFew) {
  add("alice", 4);
  now += EventLimit::kInterval;
  EXPECT_EQ(add("alice", 2), 1);
  now += 100 * EventLimit::kInterval;
  EXPECT_EQ(limit.take_due(now).size(), 1U);
  EXPECT_EQ(add("alice", 10), 4);
}

TEST_F(EventLimitTest, TellsAFewLinesOfAFloodThatLastsAnHour) {
  std::size_t lines = 0;
  for (int step = 0; step < 3'600; ++step) {
    lines += static_cast<std::size_t>(add("alice", 20));
    lines += limit.take_due(now).size();
    now += 1s;
  }
  EXPECT_LE(lines, 4 + 2 * 360U) << "one line of its own and one that counts, each ten seconds";
  EXPECT_GE(lines, 360U);
}

/// Proves: logs.lines-a-day
TEST_F(EventLimitTest, TellsSome17000LinesOfAFloodThatLastsADay) {
  EventLimit of_transfers(64);
  std::size_t lines = 0;
  for (int step = 0; step < 86'400; ++step, now += 1s) {
    for (int i = 0; i < 2; ++i) lines += of_transfers.add("alice", small_transfer(), now) ? 1U : 0U;
    lines += of_transfers.take_due(now).size();
  }
  EXPECT_LE(lines, 17'500U);
}

TEST_F(EventLimitTest, BoundsItsKinds) {
  int told = 0;
  for (int peer = 0; peer < 10'000; ++peer) told += add("peer " + std::to_string(peer), 1);
  EXPECT_EQ(told, static_cast<int>(EventLimit::kMaxKinds) + 4) << "the others share one kind";
  now += 10 * EventLimit::kInterval;
  EXPECT_EQ(limit.take_due(now).size(), 1U);
  EXPECT_EQ(add("peer 9999", 1), 1) << "those that are quiet make room";
}

TEST_F(EventLimitTest, SaysHowManyOtherEventsALineStandsFor) {
  const LogEvent refused{.kind = EventKind::refused, .message = "refused 192.0.2.7:1: TLS"};
  for (int i = 0; i < 58; ++i) std::ignore = limit.add("keys", refused, now);
  const auto due = limit.take_due(now + EventLimit::kInterval);
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0].message, "refused 192.0.2.7:1: TLS (the last of 54)");
  EXPECT_EQ(due[0].count, 54U);
}

TEST_F(EventLimitTest, NamesNoAddressForThoseOfSeveral) {
  add("anonymous", 5);
  LogEvent other = small_transfer();
  other.peer.reset();
  other.address = "192.0.2.2:1";
  std::ignore = limit.add("anonymous", other, now);
  const auto due = limit.take_due(now + EventLimit::kInterval);
  ASSERT_EQ(due.size(), 1U);
  EXPECT_FALSE(due[0].address);
  EXPECT_THAT(due[0].message, testing::StartsWith("several clients: 2 more transfers"));
}

TEST_F(EventLimitTest, NeverTellsAFailureByALineOfWhatWasWell) {
  for (std::size_t peer = 0; peer < EventLimit::kMaxKinds; ++peer) add("peer " + std::to_string(peer), 1);
  LogEvent failed = small_transfer();
  failed.result = "the disk is full";
  for (int i = 0; i < 10; ++i) {
    add("another", 1);
    std::ignore = limit.add("another that failed", failed, now);
  }
  const auto due = limit.take_due(now + EventLimit::kInterval);
  ASSERT_EQ(due.size(), 2U);
  EXPECT_NE(due[0].result, due[1].result);
  EXPECT_EQ(due[0].count, due[1].count);
}

TEST_F(EventLimitTest, NamesTheDirectionOfThoseThatHaveMovedSomething) {
  add("alice", 4);
  LogEvent none = small_transfer(0);
  none.direction.reset();
  for (const LogEvent& event : {small_transfer(), none}) std::ignore = limit.add("alice", event, now);
  EXPECT_EQ(limit.take_due(now + EventLimit::kInterval).at(0).direction, kReceived);
}

TEST(EventLog, TellsWhatItHasCountedWhenTheIntervalIsOverAndBeforeTheEnd) {
  boost::asio::io_context io;
  std::vector<LogEvent> seen;
  set_event_sink([&](const LogEvent& event) { seen.push_back(event); });
  EventLog log(io, 1);
  for (int i = 0; i < 5; ++i) log.report("alice", small_transfer());
  EXPECT_EQ(seen.size(), 1U);
  log.flush();
  log.flush();
  set_event_sink({});
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[1].count, 4U);
}

}  // namespace
}  // namespace udtcat::tool
