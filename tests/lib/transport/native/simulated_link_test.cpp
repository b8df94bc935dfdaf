// SPDX-License-Identifier: Apache-2.0
/// tests/lib/transport/native: the simulated link of other tests.

#include <functional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"
#include "lib/transport/native/simulated_link.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

/// A link that takes a millisecond for each packet of 1000 bytes, and one more to the other end.
class SimulatedLinkOf8Megabits : public testing::Test {
 protected:
  SimulatedLinkOf8Megabits() {
    link.settings.rate = BitRate::from_bits_per_second(8'000'000);
    link.settings.delay = 1ms;
  }
  bool take(Duration at, std::byte name = std::byte{0}) {
    return link.take(kStart + at, {{}, std::vector<std::byte>(972, name)}, random);
  }
  void take_many(int packets) {
    for (int i = 0; i < packets; ++i) EXPECT_TRUE(take(0ms, static_cast<std::byte>(i)));
  }
  void change(Duration at, const std::function<void(PathSettings&)>& change) {
    link.advance(kStart + at);
    change(link.settings);
  }
  /// Packets that have arrived since the last call.
  int come(Duration by) {
    link.advance(kStart + by);
    SimulatedLink::Packet packet;
    int count = 0;
    for (; link.next(kStart + by, packet); ++count) names.push_back(std::to_integer<int>(packet.bytes.front()));
    return count;
  }

  SimulatedLink link;
  std::mt19937 random{1};
  std::vector<int> names;
};

TEST_F(SimulatedLinkOf8Megabits, DelaysByItsRateAndLength) {
  take_many(3);
  EXPECT_EQ(link.due(), kStart + 2ms);
  EXPECT_EQ(come(2ms - 1ns), 0);
  EXPECT_EQ(come(2ms), 1);
  EXPECT_EQ(come(3ms), 1);
  EXPECT_EQ(link.waiting_bytes(kStart + 3ms), 0U);
}

TEST_F(SimulatedLinkOf8Megabits, ChangesItsRateForQueuedPacketsOnly) {
  take_many(10);
  change(5ms, [](auto& path) { path.rate = BitRate::from_bits_per_second(800'000); });
  EXPECT_EQ(link.waiting_bytes(kStart + 5ms), 5000U);
  EXPECT_EQ(come(15ms), 5);
  EXPECT_EQ(come(16ms), 1);
  change(25ms, [](auto& path) { path.rate = BitRate::from_bits_per_second(8'000'000); });
  EXPECT_EQ(come(29ms), 4);
}

TEST_F(SimulatedLinkOf8Megabits, KeepsTheOrderWhenItBecomesShorter) {
  link.settings.delay = 20ms;
  take_many(10);
  change(5ms, [](auto& path) { path.delay = 1ms; });
  EXPECT_EQ(come(21ms), 1);
  EXPECT_EQ(come(25ms), 9);
  EXPECT_EQ(names, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST_F(SimulatedLinkOf8Megabits, DropsWhatItsQueueDoesNotHold) {
  link.settings.queue_bytes = 2500;
  take_many(3);
  EXPECT_FALSE(take(0ms));
  EXPECT_TRUE(take(600us));
  EXPECT_EQ(link.counts().overflowed, 1U);
}

TEST_F(SimulatedLinkOf8Megabits, PolicesWhatIsBeyondTheBucketAndTheRate) {
  link.settings.policer_rate = BitRate::from_bits_per_second(800'000);
  link.settings.policer_bytes = 3000;
  take_many(3);
  EXPECT_FALSE(take(0ms));
  EXPECT_FALSE(take(9ms));
  EXPECT_TRUE(take(11ms));
  EXPECT_FALSE(take(11ms));
  EXPECT_TRUE(take(60s));
  EXPECT_EQ(link.counts().policed, 3U);
}

TEST_F(SimulatedLinkOf8Megabits, ReleasesQueuedPacketsTogether) {
  link.settings.release_least = link.settings.release_most = 5ms;
  take_many(7);
  EXPECT_EQ(come(6ms - 1ns), 0);
  EXPECT_EQ(come(6ms), 5);
  EXPECT_EQ(come(11ms - 1ns), 0);
  EXPECT_EQ(come(11ms), 2);
}

TEST_F(SimulatedLinkOf8Megabits, ReordersAShareOfPackets) {
  link.settings.reorder = 1;
  link.settings.reorder_delay = 5ms;
  take_many(1);
  link.settings.reorder = 0;
  EXPECT_TRUE(take(0ms, std::byte{1}));
  EXPECT_EQ(come(10ms), 2);
  EXPECT_EQ(names, (std::vector<int>{1, 0}));
}

TEST_F(SimulatedLinkOf8Megabits, LosesTheGivenShare) {
  link.settings.loss = 0.05;
  link.settings.loss_burst = 10;
  constexpr int kPackets = 100'000;
  int lost = 0;
  for (int i = 0; i < kPackets; ++i) lost += take(i * 1ms) ? 0 : 1;
  EXPECT_NEAR(static_cast<double>(lost) / kPackets, link.settings.lost_share(), 0.02);
}

}  // namespace
}  // namespace udtcat::transport::native
