// SPDX-License-Identifier: Apache-2.0
#include "lib/session/flows.hpp"

#include <array>
#include <map>
#include <vector>

#include <gmock/gmock.h>

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
      pipes.push_back(pair.from_connector);
      flows.add(std::move(pair.connector));
    }
  }
  std::size_t choose() {
    const Flow& chosen = flows.choose();
    for (std::size_t i = 0; i < channels.size(); ++i)
      if (chosen.channel.get() == channels[i]) return i;
    return channels.size();
  }
  Flow& at(std::size_t i) { return *std::next(flows.begin(), static_cast<std::ptrdiff_t>(i)); }

  boost::asio::io_context io;
  std::vector<test::MemoryChannel*> channels;
  std::vector<std::shared_ptr<test::MemoryPipe>> pipes;
  Flows flows;
};

TEST_F(FlowsTest, TakeTurnsWhileTheyAreEqual) {
  add(3);
  std::map<std::size_t, int> count;
  for (int block = 0; block < 30; ++block) ++count[choose()];
  EXPECT_EQ(count, (std::map<std::size_t, int>{{0, 10}, {1, 10}, {2, 10}}));
}

TEST_F(FlowsTest, GiveABlockToTheOneWithTheLeastToSendWhereAllAreEquallyFast) {
  add(3);
  at(0).untaken_bytes = 300;
  at(1).untaken_bytes = 100;
  at(2).untaken_bytes = 200;
  for (int block = 0; block < 10; ++block) EXPECT_EQ(choose(), 1U);
}

TEST_F(FlowsTest, GiveABlockToTheOneThatWillSoonestHaveNothingToSend) {
  add(2);
  pipes[0]->ahead_bytes = 8'000;  // as far as it sends in some milliseconds
  pipes[1]->ahead_bytes = 1'000;
  at(0).untaken_bytes = 2'000;
  at(1).untaken_bytes = 500;
  EXPECT_EQ(choose(), 0U) << "it has a quarter of what it sends in that time, the other a half";
  at(0).untaken_bytes = 5'000;
  EXPECT_EQ(choose(), 1U);
  at(1).untaken_bytes = 0;
  at(0).untaken_bytes = 1;
  EXPECT_EQ(choose(), 1U) << "it may be new";
}

TEST_F(FlowsTest, GiveNothingToOneThatIsBrokenReplacedOrStalled) {
  add(4);
  at(0).broken = at(1).replaced = at(2).stalled = true;
  at(3).untaken_bytes = 1'000'000;
  for (int block = 0; block < 10; ++block) EXPECT_EQ(choose(), 3U);
  at(3).broken = true;
  EXPECT_EQ(choose(), 2U) << "a stalled one rather than none";
}

TEST_F(FlowsTest, KeepTheCountersOfOneThatIsRemoved) {
  add(2);
  channels[0]->counted = {{.packets_sent = 1}};
  channels[1]->counted = {{.packets_sent = 10}};
  channels[1]->measured.packets_lost = 7;
  channels[1]->measured.path_rate = BitRate::from_bits_per_second(5);
  flows.remove(at(1));
  EXPECT_EQ(flows.size(), 1U);
  EXPECT_EQ(flows.stats().packets_sent, 11U);
  EndStats end;
  flows.add_end_stats(end);
  EXPECT_EQ(end.packets_lost, 7U);
  EXPECT_EQ(end.path_rate, BitRate()) << "it has no path any more";
  flows.forget_removed();
  EXPECT_EQ(flows.stats().packets_sent, 11U);
}

TEST_F(FlowsTest, AreFoundByTheirNumbersUnlessTheyWereReplaced) {
  test::ChannelPair one(io);
  test::ChannelPair other(io);
  Flow& before = flows.add(std::move(one.connector), {3, 1});
  before.replaced = true;
  EXPECT_EQ(flows.find(3), nullptr);
  Flow& now = flows.add(std::move(other.connector), {3, 2});
  EXPECT_EQ(flows.find(3), &now);
  EXPECT_EQ(flows.usable(), 1U);
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

TEST_F(FlowsTest, AddTheirCountersAndKeepTheFirstOnesRoundTrip) {
  add(2);
  channels[0]->counted = {{TransportKind::native, std::nullopt, 1, 2, 3, 4, 5, 6}};
  channels[1]->counted = {{TransportKind::native, 8us, 10, 20, 30, 40, 50, 60}};
  const auto both = flows.stats();
  EXPECT_THAT((std::array{both.packets_sent, both.packets_lost, both.packets_resent, both.packets_late,
                          both.bytes_arrived, both.bytes_carried}),
              testing::ElementsAre(11, 22, 33, 44, 55, 66));
  EXPECT_EQ(both.rtt, std::nullopt);
  channels[0]->counted.rtt = 9us;
  EXPECT_EQ(flows.stats().rtt, 9us);
}

TEST_F(FlowsTest, AreOnePath) {
  add(2);
  EndStats& one = channels[0]->measured;
  one.stalled.fill(10us);
  one.path_rate = one.rate_cap = BitRate::from_bits_per_second(1);
  one.rtt_sum = 2us;
  one.rtt_samples = 3;
  one.packets_sent = 4;
  one.packets_lost = 5;
  one.queued_lost = 6;
  one.loss_by_rate = {1, 2, 3, 4, 5};
  one.loss_behind_loss = {6, 7, 8, 9, 10};
  one.path_changes = 7;
  one.memory_bytes = 8;
  one.trains_off = 1;
  one.packet_bytes = one.socket_drops = one.socket_buffer_bytes = one.socket_wanted_bytes = 100;
  EndStats& other = channels[1]->measured;
  other = one;
  other.stalled.fill(30us);
  other.least_rtt = 11us;
  other.trains_off = 0;
  other.packet_bytes = other.socket_drops = other.socket_buffer_bytes = other.socket_wanted_bytes = 99;
  EndStats both;
  flows.add_end_stats(both);
  EXPECT_THAT(both.stalled, testing::Each(20us)) << "the mean";
  EXPECT_EQ(both.path_rate.bits_per_second(), 2U);
  EXPECT_EQ(both.rate_cap.bits_per_second(), 2U);
  EXPECT_EQ(both.least_rtt, 11us);
  EXPECT_EQ(both.rtt_sum, 4us);
  EXPECT_THAT((std::array{both.rtt_samples, both.packets_sent, both.packets_lost, both.queued_lost, both.path_changes,
                          both.memory_bytes}),
              testing::ElementsAre(6, 8, 10, 12, 14, 16));
  EXPECT_THAT((std::array{both.loss_by_rate.spans, both.loss_by_rate.sent, both.loss_by_rate.lost,
                          both.loss_by_rate.sent_squared, both.loss_by_rate.sent_by_lost}),
              testing::ElementsAre(2, 4, 6, 8, 10));
  EXPECT_EQ(both.loss_behind_loss.sent_by_lost, 20U);
  EXPECT_THAT((std::array{both.packet_bytes, both.socket_drops, both.socket_buffer_bytes, both.socket_wanted_bytes}),
              testing::Each(100))
      << "of one port";
  EXPECT_EQ(both.trains_off, 1U);
  one.least_rtt = 7us;
  both = {};
  flows.add_end_stats(both);
  EXPECT_EQ(both.least_rtt, 7us);
}

}  // namespace
}  // namespace udtcat::session
