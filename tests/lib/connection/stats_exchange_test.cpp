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
  [[nodiscard]] static Evidence evidence_of(End& end) { return end.connection->stats().evidence; }
  [[nodiscard]] static microseconds held(End& end, Hold why) {
    return evidence_of(end).here.held[static_cast<std::size_t>(why)];
  }
};

TEST_F(StatsExchangeTest, ChargesASilentSource) {
  connect();
  connector.script->to_send = "a word";
  open();
  ASSERT_TRUE(run_until([this] { return held(connector, Hold::source) > 50ms; }));
  EXPECT_EQ(held(connector, Hold::credit), 0us);
}

TEST_F(StatsExchangeTest, ChargesAStalledConsumerAtBothEnds) {
  connect();
  listener.script->consumer_stalled = true;
  connector.script->to_send = std::string(4'000'000, 'x');
  open();
  ASSERT_TRUE(run_until([this] { return held(connector, Hold::credit) > 50ms; }));
  EXPECT_GT(evidence_of(listener).here.consuming, 50ms);
  EXPECT_EQ(evidence_of(connector).here.consuming, 0us);
  listener.script->stall(false);
  ASSERT_TRUE(run_until([this] { return listener.script->received.size() == 4'000'000; }));
  const auto credit = held(connector, Hold::credit);
  ASSERT_TRUE(run_until([this] { return held(connector, Hold::source) > 50ms; }));
  EXPECT_LT(held(connector, Hold::credit), credit + 50ms) << "no more of it";
}

TEST_F(StatsExchangeTest, ChargesAConsumerThatHasNotTakenTheEnd) {
  connect();
  listener.script->consumer_stalled = true;
  connector.script->to_send = "all";
  connector.script->source_ended = listener.script->source_ended = true;
  open();
  ASSERT_TRUE(run_until([this] { return held(connector, Hold::credit) > 50ms; }));
  EXPECT_GT(evidence_of(listener).here.consuming, 40ms);
  listener.script->stall(false);
  EXPECT_TRUE(both_ended());
}

TEST_F(StatsExchangeTest, ChargesNothingToAnEndThatHasSentAll) {
  connect();
  listener.script->source_ended = true;
  connector.script->to_send = "a word, and nothing more for a while";
  open();
  ASSERT_TRUE(run_until([this] { return held(connector, Hold::source) > 50ms; }));
  EXPECT_LT(held(listener, Hold::source), 40ms);
}

TEST_F(StatsExchangeTest, CountsTheTimeOfOlderThreadsFromItsOwnBeginning) {
  while (std::clock() < CLOCKS_PER_SEC / 2) {
  }
  connect();
  ASSERT_TRUE(run_until([this] { return evidence_of(connector).here.elapsed > 50ms; }));
  const EndEvidence evidence = evidence_of(connector).here;
  EXPECT_LE(evidence.event_loop.had + evidence.event_loop.waited, evidence.elapsed + 20ms);
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
  EXPECT_FALSE(evidence_of(connector).there || evidence_of(listener).there);
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
  const Evidence at_connector = evidence_of(connector);
  const Evidence at_listener = evidence_of(listener);
  ASSERT_TRUE(at_connector.there && at_listener.there);
  EXPECT_EQ(at_connector.there->bytes_received, 100'000U);
  EXPECT_EQ(at_listener.there->bytes_sent, 100'000U);
  EXPECT_EQ(at_listener.here.elapsed, evidence_of(listener).here.elapsed) << "it is over";
}

TEST_F(Reports, AreSentWhileTheConsumerOfTheOtherEndStalls) {
  connect();
  listener.script->consumer_stalled = true;
  connector.script->to_send = std::string(100'000, 'x');
  connector.script->source_ended = listener.script->source_ended = true;
  open();
  EXPECT_TRUE(run_until([this] {
    const auto there = evidence_of(listener).there;
    return there && there->held[static_cast<std::size_t>(Hold::credit)] > 1500ms;
  }));
  listener.script->stall(false);
  EXPECT_TRUE(both_ended());
}

TEST_F(Reports, AreSentWhileBytesMove) {
  connect();
  connector.script->to_send = "first";
  open();
  ASSERT_TRUE(run_until([this] { return evidence_of(listener).there.has_value(); }));
  EXPECT_FALSE(evidence_of(listener).there_before);
  EXPECT_EQ(evidence_of(listener).there->bytes_sent, 5U);
  connector.script->say("second");
  ASSERT_TRUE(run_until([this] { return evidence_of(listener).there->bytes_sent == 11; }));
  const Evidence both = evidence_of(listener);
  ASSERT_TRUE(both.there_before);
  EXPECT_GE(both.there->elapsed - both.there_before->elapsed, 990ms);
  const auto blocks = connector.connection->stats().blocks_sent;
  const auto later = std::chrono::steady_clock::now() + 1500ms;
  ASSERT_TRUE(run_until([later] { return std::chrono::steady_clock::now() > later; }));
  EXPECT_EQ(evidence_of(listener).there->elapsed, both.there->elapsed) << "an idle session has nothing to tell";
  EXPECT_LE(connector.connection->stats().blocks_sent, blocks + 2) << "pings";
}

}  // namespace
}  // namespace udtcat::connection
