// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/sent_again.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

class SentAgainTest : public testing::Test {
 protected:
  using Indices = std::vector<PacketIndex>;

  SentAgainTest() {
    for (int i = 0; i < 10; ++i) packets.on_sent(kStart, packets.add(1000), {});
  }
  void send(Duration at, PacketIndex index) {
    packets.on_sent(kStart + at, index, {});
    resent.on_sent(packets, index);
  }
  Indices take(Duration before) {
    Indices taken;
    resent.take_before(packets, kStart + before, [&](PacketIndex index) { taken.push_back(index); });
    return taken;
  }

  SentPackets packets;
  SentAgain resent;
};

TEST_F(SentAgainTest, GivesThemOnceInTheOrderInWhichTheyLeft) {
  send(1ms, 7);
  send(2ms, 3);
  send(3ms, 5);
  EXPECT_TRUE(take(1ms).empty());
  EXPECT_EQ(take(3ms), (Indices{7, 3}));
  EXPECT_EQ(take(4ms), Indices{5});
  EXPECT_TRUE(take(1s).empty());
}

TEST_F(SentAgainTest, GivesTheLastCopyOnly) {
  send(1ms, 7);
  send(5ms, 7);
  EXPECT_TRUE(take(2ms).empty());
  EXPECT_EQ(take(6ms), Indices{7});
}

TEST_F(SentAgainTest, GivesNoneThatIsAcknowledgedOrWaitsToBeSent) {
  for (const PacketIndex index : {2U, 4U, 6U}) send(1ms, index);
  packets.acknowledge_before(3);
  packets.mark_lost(4);
  EXPECT_EQ(take(2ms), Indices{6});
}

TEST_F(SentAgainTest, StaysSmallThoughNothingIsAcknowledged) {
  for (int i = 0; i < 10'000; ++i) send(i * 1us, i == 0 ? 9 : static_cast<PacketIndex>(i % 9));
  EXPECT_LE(resent.size(), 100U);
  const auto taken = take(1s);
  EXPECT_EQ(taken.size(), 10U);
  EXPECT_EQ(taken[0], 9U);
}

}  // namespace
}  // namespace udtcat::transport::native
