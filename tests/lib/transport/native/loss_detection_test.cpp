// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/loss_detection.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kFirstDetected = 1000;

/// A hundred packets, one each millisecond from kStart on, and a round trip of 20 ms.
class LossDetectionTest : public testing::TestWithParam<PeerKind> {
 protected:
  using Indices = std::vector<PacketIndex>;

  LossDetectionTest() {
    rtt.on_sample(20ms);
    for (int i = 0; i < 100; ++i) losses.packets().on_sent(kStart + i * 1ms, losses.packets().add(1000), {});
  }
  static SequenceRange range(PacketIndex first, PacketIndex last) {
    return {static_cast<std::uint32_t>(kFirstDetected + first), static_cast<std::uint32_t>(kFirstDetected + last)};
  }
  LossDetection::Lost nak(TimePoint now, std::vector<SequenceRange> list) { return losses.on_nak(now, list, rtt); }

  LossDetection::Lost overtaken(PacketIndex highest, TimePoint latest_sent_at) {
    LossDetection::Lost lost;
    losses.mark_overtaken(highest, latest_sent_at, kStart + 200ms, rtt, lost);
    return lost;
  }
  /// A NAK has named the packet, and it leaves again.
  void lose_and_send(TimePoint now, PacketIndex index) {
    losses.packets().mark_lost(index);
    losses.packets().on_sent(now, index, {});
    losses.on_sent_again(index);
  }

  RttEstimator rtt;
  LossDetection losses{traits_of(GetParam()), SequenceSpace(kFirstDetected)};
};
INSTANTIATE_TEST_SUITE_P(OfEitherKind, LossDetectionTest, testing::Values(PeerKind::own, PeerKind::plain),
                         [](const auto& each) { return each.param == PeerKind::own ? "Own" : "Plain"; });
using LossDetectionToOurs = LossDetectionTest;
INSTANTIATE_TEST_SUITE_P(Own, LossDetectionToOurs, testing::Values(PeerKind::own));
using LossDetectionToPlain = LossDetectionTest;
INSTANTIATE_TEST_SUITE_P(Plain, LossDetectionToPlain, testing::Values(PeerKind::plain));

TEST_P(LossDetectionTest, CountsTheRunsAndBytesThatANakNames) {
  const auto lost = nak(kStart + 200ms, {range(3, 4), range(7, 7)});
  EXPECT_EQ(lost.packets, (Indices{3, 4, 7}));
  EXPECT_EQ(lost.event.lost_bytes, 3000U);
  EXPECT_EQ(lost.event.runs, 2U);
  EXPECT_TRUE(nak(kStart + 200ms, {range(3, 4)}).packets.empty()) << "they are lost already";
}

TEST_P(LossDetectionTest, BelievesNoNakThatIsOlderThanTheRetransmission) {
  std::ignore = nak(kStart + 200ms, {range(3, 3)});
  losses.packets().on_sent(kStart + 200ms, 3, {});
  EXPECT_TRUE(nak(kStart + 219ms, {range(3, 3)}).packets.empty());
  EXPECT_EQ(nak(kStart + 220ms, {range(3, 3)}).packets, Indices{3});
}

TEST_P(LossDetectionTest, BoundsThePacketsThatNaksNameInARoundTrip) {
  std::vector<SequenceRange> all(20, range(0, 99));
  for (int i = 0; i < 14; ++i) std::ignore = nak(kStart + 200ms, {range(0, 99)});
  losses.packets().on_sent(kStart + 100ms, 3, {});
  EXPECT_TRUE(nak(kStart + 200ms, {range(0, 99)}).packets.empty()) << "1424 packets were named";
  EXPECT_EQ(nak(kStart + 300ms, {range(0, 99)}).packets, Indices{3});
}

TEST_P(LossDetectionTest, BeginsAnEpochWithAPacketThatLeftAfterTheLastOne) {
  const auto first = nak(kStart + 50ms, {range(3, 3)});
  EXPECT_TRUE(first.event.new_epoch);
  EXPECT_EQ(losses.event_of(kStart + 50ms, first).now, kStart + 50ms);
  EXPECT_FALSE(nak(kStart + 60ms, {range(40, 40)}).event.new_epoch);
  EXPECT_TRUE(nak(kStart + 80ms, {range(60, 60)}).event.new_epoch);
}

TEST_P(LossDetectionTest, RemembersForSecondsThatThePathHasLost) {
  EXPECT_FALSE(losses.has_lost_lately(kStart));
  std::ignore = losses.event_of(kStart + 50ms, nak(kStart + 50ms, {range(3, 3)}));
  EXPECT_TRUE(losses.has_lost_lately(kStart + 10s));
  EXPECT_FALSE(losses.has_lost_lately(kStart + 11s));
}

TEST_P(LossDetectionTest, CountsNoLossFromBeforeATimeout) {
  losses.on_timeout(kStart + 50ms);
  const auto lost = nak(kStart + 200ms, {range(49, 52)});
  EXPECT_EQ(lost.packets, (Indices{49, 50, 51, 52}));
  EXPECT_EQ(lost.event.lost_bytes, 2000U);
}

TEST_P(LossDetectionToOurs, MarksPacketsThatALaterOneHasOvertakenByHalfARoundTrip) {
  const auto lost = overtaken(79, kStart + 95ms);
  EXPECT_EQ(lost.packets, (Indices{80, 81, 82, 83, 84}));
  EXPECT_EQ(lost.event.runs, 1U);
}

TEST_P(LossDetectionToOurs, MarksTheOldestAgainThatALaterPacketHasOvertaken) {
  lose_and_send(kStart + 50ms, 0);
  EXPECT_TRUE(overtaken(59, kStart + 60ms).packets.empty()) << "half a round trip is reordering";
  const auto lost = overtaken(60, kStart + 60ms + 1us);
  EXPECT_EQ(lost.packets, Indices{0});
  EXPECT_EQ(lost.event.lost_bytes, 1000U);
  EXPECT_EQ(lost.event.runs, 1U);
  EXPECT_TRUE(overtaken(99, kStart + 99ms).packets.empty()) << "it waits to be sent";
}

TEST_P(LossDetectionToOurs, MarksTheOldestThatWasOvertakenBeforeItWasTheOldest) {
  lose_and_send(kStart + 50ms, 0);
  lose_and_send(kStart + 50ms, 1);
  EXPECT_EQ(overtaken(70, kStart + 70ms).packets, Indices{0}) << "the other may have arrived";
  losses.on_acknowledged_before(1);
  EXPECT_EQ(overtaken(70, kStart + 70ms).packets, Indices{1});
}

TEST_P(LossDetectionToOurs, MarksWhatIsLostAgainBehindTheHighestThatHasArrived) {
  EXPECT_EQ(overtaken(79, kStart + 95ms).packets, (Indices{80, 81, 82, 83, 84}));
  for (PacketIndex i = 80; i < 85; ++i) losses.packets().on_sent(kStart + 100ms, i, {}), losses.on_sent_again(i);
  EXPECT_EQ(overtaken(81, kStart + 111ms).packets,
            (Indices{82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99}));
}

TEST_P(LossDetectionToOurs, BelievesARepeatedNakOnceARoundTripHasPassedOrALaterPacketHasArrived) {
  rtt.on_sample(40ms);  // the least is 20 ms, the latest 40 ms
  lose_and_send(kStart + 100ms, 3);
  const Duration usual = rtt.smoothed();
  EXPECT_TRUE(nak(kStart + 100ms + usual - 1us, {range(3, 3)}).packets.empty());
  EXPECT_EQ(nak(kStart + 100ms + usual, {range(3, 3)}).packets, Indices{3});
  lose_and_send(kStart + 200ms, 4);
  std::ignore = overtaken(99, kStart + 200ms + 1us);
  EXPECT_TRUE(nak(kStart + 219ms, {range(4, 4)}).packets.empty()) << "no answer has come so soon";
  EXPECT_EQ(nak(kStart + 220ms, {range(4, 4)}).packets, Indices{4});
}

TEST_P(LossDetectionToOurs, ProbesWithTheOldestAndTheNewest) {
  LossDetection::Lost lost;
  losses.mark_probes(kStart + 200ms, rtt, lost);
  EXPECT_EQ(lost.packets, (Indices{0, 99}));
}

TEST_P(LossDetectionToPlain, BelievesANakAfterTheLeastRoundTrip) {
  rtt.on_sample(40ms);
  lose_and_send(kStart + 100ms, 3);
  EXPECT_TRUE(nak(kStart + 119ms, {range(3, 3)}).packets.empty());
  EXPECT_EQ(nak(kStart + 120ms, {range(3, 3)}).packets, Indices{3});
}

TEST_P(LossDetectionToPlain, ShowsThePacketWhoseArrivalRevealedAGap) {
  const std::vector<SequenceRange> list{range(3, 4)};
  EXPECT_EQ(losses.behind_new_gap(list)->offset, 5000U);
  std::ignore = nak(kStart + 200ms, list);
  EXPECT_FALSE(losses.behind_new_gap(list)) << "told before";
  losses.on_timeout(kStart + 50ms);
  EXPECT_FALSE(losses.behind_new_gap(std::vector{range(20, 20)})) << "it left before the timeout";
}

}  // namespace
}  // namespace udtcat::transport::native
