// SPDX-License-Identifier: Apache-2.0
#include "lib/session/flows.hpp"

#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "support/memory_channel.hpp"

namespace udtcat::session {
namespace {

using namespace std::chrono_literals;

class FlowsTest : public ::testing::Test {
 protected:
  void add(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      test::ChannelPair pair(io);
      channels.push_back(pair.connector.get());
      flows.add(std::move(pair.connector));
    }
  }
  std::size_t choose(BlockNumber number) {
    const Flow& chosen = flows.choose(number);
    for (std::size_t i = 0; i < channels.size(); ++i)
      if (chosen.channel.get() == channels[i]) return i;
    return channels.size();
  }
  Flow& at(std::size_t i) { return *(flows.begin() + static_cast<std::ptrdiff_t>(i)); }

  boost::asio::io_context io;
  std::vector<test::MemoryChannel*> channels;
  Flows flows;
};

TEST_F(FlowsTest, TakeTurnsWhileTheyAreEqual) {
  add(3);
  std::map<std::size_t, int> count;
  for (BlockNumber number = 0; number < 30; ++number) ++count[choose(number)];
  EXPECT_EQ(count, (std::map<std::size_t, int>{{0, 10}, {1, 10}, {2, 10}}));
}

TEST_F(FlowsTest, GiveABlockToTheOneWithTheLeastToSend) {
  add(3);
  at(0).untaken_bytes = 300;
  at(1).untaken_bytes = 100;
  at(2).untaken_bytes = 200;
  for (BlockNumber number = 0; number < 10; ++number) EXPECT_EQ(choose(number), 1U);
}

TEST_F(FlowsTest, LeaveNoFlowOutForLongerThanAReceiverAllows) {
  add(16);
  for (std::size_t i = 1; i < 16; ++i) at(i).untaken_bytes = i;
  std::vector<BlockNumber> least(16, 0);
  for (BlockNumber number = 0; number < 20'000; ++number) {
    const std::size_t chosen = choose(number);
    least[chosen] = number + 1;
    for (std::size_t i = 0; i < 16; ++i) EXPECT_LT(number - least[i] + 1, kMaxFlowStep);
  }
}

TEST_F(FlowsTest, CountTogether) {
  add(3);
  EXPECT_EQ(flows.stats().rtt, 1ms);
  EXPECT_FALSE(flows.port_closed_since());
  const auto now = std::chrono::steady_clock::now();
  channels[1]->port_closed = now;
  EXPECT_EQ(flows.port_closed_since(), now);
  channels[2]->port_closed = now + 1s;
  EXPECT_EQ(flows.port_closed_since(), now + 1s);
}

}  // namespace
}  // namespace udtcat::session
