// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/congestion/flow_group.hpp"

#include <list>

#include <gtest/gtest.h>

#include "lib/transport/native/congestion/events.hpp"
#include "support/addresses.hpp"

namespace udtcat::transport::native::test {
namespace {

class FlowGroupTest : public testing::Test {
 protected:
  static constexpr Duration kStep = 10ms;

  struct Member {
    Member(std::shared_ptr<FlowGroup> of, BitRate takes, BitRate gets)
        : flow(std::move(of)), bandwidth(takes), delivers(gets) {}
    FlowGroup::Member flow;
    BitRate bandwidth;
    BitRate delivers;
    bool probing = false;
    bool queued = true;
    bool silent = false;
    Duration least_rtt = 20ms;
  };
  /// bandwidth   that it takes for its own
  Member& add(BitRate bandwidth, BitRate delivers) {
    members.emplace_back(group, bandwidth, delivers);
    return members.back();
  }
  /// All acknowledge for that long.
  void pass(Duration time) {
    for (const TimePoint end = now + time; now < end; now += kStep)
      for (Member& each : members)
        if (!each.silent)
          each.flow.on_ack({.now = now,
                            .newly_delivered_bytes = bytes_during(each.delivers, kStep),
                            .least_rtt = each.least_rtt,
                            .bandwidth = each.bandwidth,
                            .queued = each.queued,
                            .probing = each.probing});
  }

  std::shared_ptr<FlowGroup> group = std::make_shared<FlowGroup>();
  std::list<Member> members;
  TimePoint now = at(100s);
};

TEST_F(FlowGroupTest, LeavesAFlowThatIsAloneItsBandwidth) {
  const Member& alone = add(mbit(100), mbit(50));
  pass(3s);
  EXPECT_EQ(alone.flow.share(), 1);
}

TEST_F(FlowGroupTest, GivesFlowsOfASharedBottleneckTheirPartsOfWhatItCarries) {
  const Member& one = add(mbit(80), mbit(50));
  const Member& other = add(mbit(70), mbit(50));
  pass(3s);
  EXPECT_NEAR(one.flow.share(), 100.0 / 150, 0.01);
  EXPECT_EQ(one.flow.share(), other.flow.share());
}

TEST_F(FlowGroupTest, LeavesFlowsOnPathsOfTheirOwnTheirBandwidths) {
  const Member& one = add(mbit(80), mbit(76));
  add(mbit(1'000), mbit(950));
  pass(3s);
  EXPECT_EQ(one.flow.share(), 1);
}

/// Proves: threat-model.coupled-half
TEST_F(FlowGroupTest, GivesNoFlowLessThanHalf) {
  const Member& one = add(mbit(80), mbit(5));
  for (int other = 0; other < 9; ++other) add(mbit(80), mbit(5));
  pass(3s);
  EXPECT_EQ(one.flow.share(), 0.5);
}

TEST_F(FlowGroupTest, CountsTheBandwidthOfAFlowOnceWhatItDeliversIsCounted) {
  const Member& one = add(mbit(80), mbit(80));
  pass(3s);
  add(mbit(80), mbit(80));
  for (int step = 0; step < 100; ++step) {
    pass(kStep);
    EXPECT_EQ(one.flow.share(), 1) << step;
  }
}

TEST_F(FlowGroupTest, CountsAFlowWhoseWriterPausesForMoments) {
  const Member& one = add(mbit(80), mbit(50));
  Member& other = add(mbit(80), mbit(50));
  pass(3s);
  for (int pause = 0; pause < 10; ++pause) {
    other.bandwidth = BitRate();
    pass(50ms);
    EXPECT_LT(one.flow.share(), 0.7);
    other.bandwidth = mbit(80);
    pass(50ms);
  }
}

TEST_F(FlowGroupTest, ForgetsAFlowThatHasNothingToSend) {
  const Member& one = add(mbit(80), mbit(50));
  Member& other = add(mbit(80), mbit(50));
  pass(3s);
  other.bandwidth = BitRate();
  pass(300ms);
  EXPECT_EQ(one.flow.share(), 1);
}

TEST_F(FlowGroupTest, ForgetsAFlowThatRests) {
  const Member& one = add(mbit(80), mbit(50));
  Member& other = add(mbit(80), mbit(50));
  pass(3s);
  EXPECT_LT(one.flow.share(), 1);
  other.silent = true;
  pass(300ms);
  EXPECT_EQ(one.flow.share(), 1);
}

TEST_F(FlowGroupTest, ForgetsAFlowThatRestsThoughOneOfALongerRoundTripIsBeforeIt) {
  const Member& one = add(mbit(80), mbit(50));
  Member& longer = add(mbit(80), mbit(50));
  longer.least_rtt = 500ms;
  Member& other = add(mbit(80), mbit(50));
  pass(6s);
  EXPECT_LT(one.flow.share(), 0.7);
  longer.silent = true;
  pass(kStep);
  other.silent = true;
  pass(500ms);
  EXPECT_EQ(one.flow.share(), 1);
}

TEST_F(FlowGroupTest, GivesMoreAndMoreWhileNoQueueStands) {
  Member& one = add(mbit(80), mbit(50));
  Member& other = add(mbit(80), mbit(50));
  pass(3s);
  one.queued = other.queued = false;
  const double before = one.flow.share();
  pass(1s);
  const double eased = one.flow.share();
  EXPECT_GT(eased, 1.05 * before);
  EXPECT_LT(eased, 1.15 * before);
  other.queued = true;
  pass(200ms);
  EXPECT_NEAR(one.flow.share(), before, 0.01);
}

TEST_F(FlowGroupTest, ForgetsAFlowThatIsNotAnswered) {
  const Member& one = add(mbit(80), mbit(50));
  Member& other = add(mbit(80), mbit(50));
  pass(3s);
  EXPECT_LT(one.flow.share(), 1);
  other.flow.on_timeout();
  EXPECT_EQ(one.flow.share(), 1);
}

TEST_F(FlowGroupTest, ForgetsAFlowThatIsGone) {
  const Member& one = add(mbit(80), mbit(50));
  add(mbit(80), mbit(50)).probing = true;
  pass(3s);
  EXPECT_LT(one.flow.share(), 1);
  members.pop_back();
  EXPECT_EQ(one.flow.share(), 1);
  EXPECT_FALSE(one.flow.others_probe(now));
}

TEST_F(FlowGroupTest, ForgetsWhatTheBottleneckCarriedTwoPeriodsAgo) {
  Member& one = add(mbit(80), mbit(50));
  Member& other = add(mbit(80), mbit(50));
  pass(3s);
  one.delivers = other.delivers = mbit(45);
  pass(6s);
  EXPECT_NEAR(one.flow.share(), 90.0 / 160, 0.01);
}

TEST_F(FlowGroupTest, TakesNoRateFromAPause) {
  const Member& one = add(mbit(80), mbit(50));
  add(mbit(80), mbit(50));
  pass(2'510ms);  // a period has just begun
  now += 20s;
  pass(300ms);
  EXPECT_NEAR(one.flow.share(), 100.0 / 160, 0.01);
}

TEST_F(FlowGroupTest, TellsThatAnotherFlowProbes) {
  const Member& one = add(mbit(80), mbit(50));
  Member& other = add(mbit(80), mbit(50));
  pass(1s);
  EXPECT_FALSE(one.flow.others_probe(now));
  other.probing = true;
  pass(100ms);
  EXPECT_TRUE(one.flow.others_probe(now));
  EXPECT_FALSE(other.flow.others_probe(now)) << "it is the one";
  other.probing = false;
  pass(200ms);
  EXPECT_FALSE(one.flow.others_probe(now));
}

TEST(FlowGroups, AreOneForEachHost) {
  FlowGroups groups;
  const Endpoint host = udtcat::test::address_of("192.0.2.1", 5000);
  const auto group = groups.to_host_of(host);
  EXPECT_EQ(groups.to_host_of(host.with_port(5001)), group);
  EXPECT_NE(groups.to_host_of(udtcat::test::address_of("192.0.2.2", 5000)), group);
}

TEST(FlowGroups, AreForgottenWithTheirLastFlow) {
  FlowGroups groups;
  const Endpoint host = udtcat::test::address_of("192.0.2.1", 5000);
  std::weak_ptr<FlowGroup> gone = groups.to_host_of(host);
  EXPECT_TRUE(gone.expired());
  EXPECT_NE(groups.to_host_of(host), nullptr);
}

}  // namespace
}  // namespace udtcat::transport::native::test
