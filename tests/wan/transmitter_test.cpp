// SPDX-License-Identifier: Apache-2.0
#include "wan/transmitter.hpp"

#include <gtest/gtest.h>

#include "lib/core/user_text.hpp"

namespace udtcat::wan {
namespace {

using namespace std::chrono_literals;

class TransmitterTest : public testing::Test {
 protected:
  void at_rate(const char* rate, std::size_t sent_bytes = 0) {
    transmitter_.set(*core::parse_rate(rate), nullptr, now_, sent_bytes);
  }
  void by_trace(std::string_view text) {
    transmitter_.set({}, std::make_shared<const Trace>(*Trace::parse(text)), now_, 0);
  }
  /// When a packet has left that was ready so long after now.
  std::chrono::nanoseconds send(std::size_t bytes, std::chrono::nanoseconds ready) {
    const auto left = transmitter_.end(bytes, now_ + ready) - now_;
    transmitter_.send(bytes, now_ + ready);
    return left;
  }

  Transmitter transmitter_;
  TimePoint now_{1h};
};

TEST_F(TransmitterTest, SendsAtItsRateOneAfterTheOther) {
  at_rate("8M");
  EXPECT_EQ(send(1500, 5ms), 6500us);
  EXPECT_EQ(send(1500, 5ms), 8ms);
  EXPECT_EQ(transmitter_.begin(1500, now_ + 5ms), now_ + 8ms);
  EXPECT_EQ(send(750, 10ms), 10750us);
}

TEST_F(TransmitterTest, IsBusyForMonthsWithoutLosingANanosecond) {
  at_rate("2G");
  std::chrono::nanoseconds left{};
  for (int i = 0; i < 3'000'000; ++i) left = send(1'250'000'001, 0s);
  EXPECT_EQ(left, 15'000'000s + 12ms);
}

TEST_F(TransmitterTest, TakesWhatHasLeftIntoANewRate) {
  at_rate("8M");
  EXPECT_EQ(transmitter_.sent_bytes(now_, now_ + 600us), 600U);
  now_ += 600us;
  at_rate("8k", 600);
  EXPECT_EQ(transmitter_.sent_bytes(now_, now_ + 3ms), 603U);
  EXPECT_EQ(send(1500, 0ms), 900ms);
  EXPECT_EQ(send(1500, 0ms), 2400ms);
}

TEST_F(TransmitterTest, UsesTheOpportunitiesOfATrace) {
  by_trace("2\n4\n4\n10\n");
  EXPECT_EQ(send(1500, 0ms), 2ms);
  EXPECT_EQ(send(1500, 2ms), 4ms) << "one at the very time of a packet's arrival has gone";
  EXPECT_EQ(send(1500, 2ms), 4ms);
  EXPECT_EQ(send(1500, 5ms), 10ms);
  EXPECT_EQ(send(1500, 10ms), 12ms) << "the trace is repeated";
  EXPECT_EQ(send(1500, 99ms), 100ms);
}

TEST_F(TransmitterTest, SharesAnOpportunityAmongSmallPackets) {
  by_trace("10\n");
  EXPECT_EQ(send(700, 0ms), 10ms);
  EXPECT_EQ(send(700, 9ms), 10ms);
  EXPECT_EQ(send(700, 9ms), 20ms) << "100 bytes were left of the first";
  EXPECT_EQ(send(700, 20ms), 30ms) << "its rest was lost before this one came";
}

TEST_F(TransmitterTest, TakesSeveralOpportunitiesForALargePacket) {
  by_trace("10\n");
  EXPECT_EQ(send(9000, 0ms), 60ms);
}

TEST_F(TransmitterTest, SaysOfWhatTakesCenturiesThatItTakesAMonth) {
  at_rate("1");
  EXPECT_EQ(send(1'000'000'000, 0ms), 30 * 24h);
  by_trace("3600000\n");
  EXPECT_GT(send(1'000'000'000, 0ms), 24h) << "the clock has not gone round";
}

TEST_F(TransmitterTest, WithoutARateSendsAtOnce) {
  EXPECT_EQ(send(9000, 3ms), 3ms);
  EXPECT_TRUE(transmitter_.unlimited());
  by_trace("10\n");
  EXPECT_FALSE(transmitter_.unlimited());
}

}  // namespace
}  // namespace udtcat::wan
