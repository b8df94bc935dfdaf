// SPDX-License-Identifier: Apache-2.0
#include <ctime>

#include <gtest/gtest.h>

#include "lib/connection/multiplexer_fixture.hpp"

namespace udtcat::connection {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

class StatsExchangeTest : public MultiplexerTest {
 protected:
  [[nodiscard]] static BothEndsStats ends_of(End& end) { return end.connection->stats().ends; }
  [[nodiscard]] static microseconds stalled(End& end, StallReason why) {
    return ends_of(end).here.stalled[static_cast<std::size_t>(why)];
  }
};

TEST_F(StatsExchangeTest, ChargesASilentSource) {
  connect();
  connector.script->to_send = "a word";
  open();
  ASSERT_TRUE(run_until([this] { return stalled(connector, StallReason::source) > 50ms; }));
  EXPECT_EQ(stalled(connector, StallReason::credit), 0us);
}

TEST_F(StatsExchangeTest, ChargesAStalledConsumerAtBothEnds) {
  connect();
  listener.script->consumer_stalled = true;
  connector.script->to_send = std::string(4'000'000, 'x');
  open();
  ASSERT_TRUE(run_until([this] { return stalled(connector, StallReason::credit) > 50ms; }));
  EXPECT_GT(ends_of(listener).here.consuming, 50ms);
  EXPECT_EQ(ends_of(connector).here.consuming, 0us);
  listener.script->stall(false);
  ASSERT_TRUE(run_until([this] { return listener.script->received.size() == 4'000'000; }));
  const auto credit = stalled(connector, StallReason::credit);
  ASSERT_TRUE(run_until([this] { return stalled(connector, StallReason::source) > 50ms; }));
  EXPECT_LT(stalled(connector, StallReason::credit), credit + 50ms) << "no more of it";
}

TEST_F(StatsExchangeTest, ChargesAConsumerThatHasNotTakenTheEnd) {
  connect();
  listener.script->consumer_stalled = true;
  connector.script->to_send = "all";
  connector.script->source_ended = listener.script->source_ended = true;
  open();
  ASSERT_TRUE(run_until([this] { return stalled(connector, StallReason::credit) > 50ms; }));
  EXPECT_GT(ends_of(listener).here.consuming, 40ms);
  listener.script->stall(false);
  EXPECT_TRUE(both_ended());
}

TEST_F(StatsExchangeTest, ChargesNothingToAnEndThatHasSentAll) {
  connect();
  listener.script->source_ended = true;
  connector.script->to_send = "a word, and nothing more for a while";
  open();
  ASSERT_TRUE(run_until([this] { return stalled(connector, StallReason::source) > 50ms; }));
  EXPECT_LT(stalled(listener, StallReason::source), 40ms);
}

TEST_F(StatsExchangeTest, CountsTheTimeOfOlderThreadsFromItsOwnBeginning) {
  while (std::clock() < CLOCKS_PER_SEC / 2) {
  }
  connect();
  ASSERT_TRUE(run_until([this] { return ends_of(connector).here.elapsed > 50ms; }));
  const EndStats end = ends_of(connector).here;
  EXPECT_LE(end.event_loop.had + end.event_loop.waited, end.elapsed + 20ms);
}

TEST_F(StatsExchangeTest, SendsNothingToAPeerThatTakesNoReports) {
  connect();
  connector.script->source_ended = listener.script->source_ended = true;
  connector.script->to_send = "a word";
  open();
  ASSERT_TRUE(both_ended());
  connector.connection->close();
  ASSERT_TRUE(run_until([this] { return connector.closed && listener.closed; }));
  EXPECT_TRUE(*connector.closed && *listener.closed);
  EXPECT_FALSE(ends_of(connector).there || ends_of(listener).there);
}

class Reports : public StatsExchangeTest {
 protected:
  Reports() { reports = true; }
};

TEST_F(Reports, AreSentBeforeCloseWhereBytesHaveMoved) {
  connect();
  connector.script->source_ended = listener.script->source_ended = true;
  connector.script->to_send = std::string(100'000, 'x');
  open();
  ASSERT_TRUE(both_ended());
  connector.connection->close();
  ASSERT_TRUE(run_until([this] { return connector.closed && listener.closed; }));
  EXPECT_TRUE(*connector.closed && *listener.closed);
  const BothEndsStats at_connector = ends_of(connector);
  const BothEndsStats at_listener = ends_of(listener);
  ASSERT_TRUE(at_connector.there && at_listener.there);
  EXPECT_EQ(at_connector.there->bytes_received, 100'000U);
  EXPECT_EQ(at_listener.there->bytes_sent, 100'000U);
  EXPECT_EQ(at_listener.here.elapsed, ends_of(listener).here.elapsed) << "it is over";
}

TEST_F(Reports, AreSentWhileTheConsumerOfTheOtherEndStalls) {
  connect();
  listener.script->consumer_stalled = true;
  connector.script->to_send = std::string(100'000, 'x');
  connector.script->source_ended = listener.script->source_ended = true;
  open();
  EXPECT_TRUE(run_until([this] {
    const auto there = ends_of(listener).there;
    return there && there->stalled[static_cast<std::size_t>(StallReason::credit)] > 1500ms;
  }));
  listener.script->stall(false);
  EXPECT_TRUE(both_ended());
}

TEST_F(Reports, AreSentWhileBytesMove) {
  connect();
  connector.script->to_send = "first";
  open();
  ASSERT_TRUE(run_until([this] { return ends_of(listener).there.has_value(); }));
  EXPECT_FALSE(ends_of(listener).there_before);
  EXPECT_EQ(ends_of(listener).there->bytes_sent, 5U);
  connector.script->say("second");
  ASSERT_TRUE(run_until([this] { return ends_of(listener).there->bytes_sent == 11; }));
  const BothEndsStats both = ends_of(listener);
  ASSERT_TRUE(both.there_before);
  EXPECT_GE(both.there->elapsed - both.there_before->elapsed, 990ms);
  const auto blocks = connector.connection->stats().blocks_sent;
  const auto later = std::chrono::steady_clock::now() + 1500ms;
  ASSERT_TRUE(run_until([later] { return std::chrono::steady_clock::now() > later; }));
  EXPECT_EQ(ends_of(listener).there->elapsed, both.there->elapsed) << "an idle session has nothing to tell";
  EXPECT_LE(connector.connection->stats().blocks_sent, blocks + 2) << "pings";
}

}  // namespace
}  // namespace udtcat::connection
