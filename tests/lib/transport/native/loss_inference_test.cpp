// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/loss_inference.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

constexpr Duration kInferenceTimeout = 100ms;

/// A hundred packets to a plain peer, which left at once. The first ten are acknowledged.
class LossInferenceTest : public testing::Test {
 protected:
  using Indices = std::vector<PacketIndex>;

  LossInferenceTest() {
    for (int i = 0; i < 100; ++i) packets.on_sent(kStart, packets.add(1000), {});
    acknowledge_before(10);
  }
  void acknowledge_before(PacketIndex next) {
    inference.on_acknowledged_before(packets, next);
    packets.acknowledge_before(next);
  }
  /// A NAK that names these, as the connection takes it.
  void nak(PacketIndex first, PacketIndex last) {
    for (PacketIndex index = first; index <= last; ++index) packets.mark_lost(index);
    inference.presume_delivered(packets, last + 1);
  }
  Indices lost_again(TimePoint now) {
    Indices marked;
    inference.mark_lost_again(packets, now, kInferenceTimeout, [&](PacketIndex index) {
      packets.mark_lost(index);
      marked.push_back(index);
    });
    for (const PacketIndex index : marked) packets.on_sent(now, index, {});
    return marked;
  }

  SentPackets packets;
  LossInference inference;
};

TEST_F(LossInferenceTest, PresumesThatAPacketBeforeTheEndOfANakThatDoesNotNameItHasArrived) {
  nak(13, 14);
  EXPECT_EQ(packets.delivered_bytes(), 13'000U);
  EXPECT_TRUE(inference.nak_covers(14));
  EXPECT_FALSE(inference.nak_covers(15));
  EXPECT_TRUE(inference.oldest_is_missing(packets)) << "the ACKs stand still at it";
}

TEST_F(LossInferenceTest, TakesTheOldestForLostAgainATimeoutAfterItWasSentLast) {
  nak(10, 10);
  packets.on_sent(kStart + 10ms, 10, {});
  EXPECT_EQ(lost_again(kStart + 109ms), Indices{});
  EXPECT_EQ(lost_again(kStart + 110ms), Indices{10});
  EXPECT_EQ(lost_again(kStart + 210ms), Indices{}) << "after two timeouts, as it was sent three times";
  EXPECT_EQ(lost_again(kStart + 310ms), Indices{10});
}

TEST_F(LossInferenceTest, DoublesTheRunWhileAllOfItWasLost) {
  nak(50, 50);
  packets.on_sent(kStart, 50, {});
  EXPECT_EQ(lost_again(kStart + 100ms), Indices{10});
  acknowledge_before(11);
  EXPECT_EQ(lost_again(kStart + 200ms), (Indices{11, 12}));
  acknowledge_before(13);
  EXPECT_EQ(lost_again(kStart + 300ms), (Indices{13, 14, 15, 16}));
  acknowledge_before(30);
  EXPECT_EQ(lost_again(kStart + 400ms), Indices{30}) << "those between had arrived";
}

TEST_F(LossInferenceTest, ShrinksTheRunByThoseBehindItThatHadArrived) {
  nak(10, 50);
  for (PacketIndex index = 10; index <= 50; ++index) packets.on_sent(kStart, index, {});
  EXPECT_EQ(lost_again(kStart + 100ms), Indices{10});
  acknowledge_before(11);
  EXPECT_EQ(lost_again(kStart + 200ms), (Indices{11, 12}));
  acknowledge_before(14);
  EXPECT_EQ(lost_again(kStart + 300ms), (Indices{14, 15, 16}));
  acknowledge_before(21);
  EXPECT_EQ(lost_again(kStart + 400ms), (Indices{21, 22}));
}

TEST_F(LossInferenceTest, BeginsAnewOnceAllThatNaksNameHasArrived) {
  nak(10, 20);
  for (PacketIndex index = 10; index <= 20; ++index) packets.on_sent(kStart, index, {});
  EXPECT_EQ(lost_again(kStart + 100ms), Indices{10});
  acknowledge_before(11);
  EXPECT_EQ(lost_again(kStart + 200ms), (Indices{11, 12}));
  acknowledge_before(13);
  EXPECT_EQ(lost_again(kStart + 300ms), (Indices{13, 14, 15, 16}));
  acknowledge_before(30);
  nak(40, 50);
  for (PacketIndex index = 40; index <= 50; ++index) packets.on_sent(kStart + 300ms, index, {});
  EXPECT_EQ(lost_again(kStart + 400ms), Indices{30});
}

TEST_F(LossInferenceTest, SendsOneProbeWhereAPartOfTheRunHasArrived) {
  nak(50, 50);
  packets.on_sent(kStart, 50, {});
  lost_again(kStart + 100ms);
  acknowledge_before(11);
  EXPECT_EQ(lost_again(kStart + 200ms), (Indices{11, 12}));
  acknowledge_before(12);
  EXPECT_EQ(lost_again(kStart + 300ms), Indices{12});
}

TEST_F(LossInferenceTest, PresumesThatANakWasLostWhereAnAckStopsAtAPacketThatNoneHasNamed) {
  inference.presume_nak_lost(packets, kStart + 99ms, kInferenceTimeout);
  EXPECT_FALSE(inference.oldest_is_missing(packets)) << "its answer may be on its way";
  inference.presume_nak_lost(packets, kStart + 100ms, kInferenceTimeout);
  EXPECT_TRUE(inference.oldest_is_missing(packets));
  EXPECT_EQ(lost_again(kStart + 100ms), Indices{10});
}

TEST_F(LossInferenceTest, ExpiresPacketsWhoseAnswerWasDue) {
  nak(13, 14);
  EXPECT_EQ(LossInference::expire_unanswered(packets, kStart + 99ms, kInferenceTimeout), kStart + 100ms);
  EXPECT_EQ(packets.in_flight_bytes(), 85'000U);
  EXPECT_EQ(LossInference::expire_unanswered(packets, kStart + 100ms, kInferenceTimeout), TimePoint::max());
  EXPECT_EQ(packets.in_flight_bytes(), 0U);
  EXPECT_EQ(packets.delivered_bytes(), 13'000U);
}

}  // namespace
}  // namespace udtcat::transport::native
