// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/congestion/udt_rate_law.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "lib/transport/native/congestion/bottleneck.hpp"
#include "lib/transport/native/congestion/events.hpp"

namespace udtcat::transport::native::test {
namespace {

double packets_a_second(const UdtRateLaw& control) {
  return static_cast<double>(control.pacing_rate().bytes_per_second()) / kPayload;
}

/// The peer reports a rate and a capacity, in packets a second.
void report(Rounds& rounds, std::uint32_t rate, std::uint32_t capacity) {
  rounds.change_acks([=](AckEvent& ack) {
    ack.peer_rate_packets = rate;
    ack.peer_capacity_packets = capacity;
  });
}

/// A peer that gets 10 000 packets a second in each round trip, and reports that.
class Delivering {
 public:
  explicit Delivering(std::uint32_t capacity, Duration rtt = 100ms) : rounds(control, rtt) {
    report(rounds, 10'000, capacity);
    deliver();
  }
  void deliver() { rounds.deliver(mbit(80)); }
  void lose_and_deliver() {
    rounds.lose(kPayload);
    deliver();
  }

  UdtRateLaw control{kPayload, at(0s), 1};
  Rounds rounds;
};

TEST(UdtRateLaw, DoublesItsWindowInARoundTripOfSlowStart) {
  UdtRateLaw control(kPayload, at(0s), 1);
  Rounds rounds(control);
  rounds.deliver(BitRate::from_bytes_per(10 * kPayload, 100ms));
  EXPECT_EQ(control.window_bytes(), 20 * kPayload);
}

TEST(UdtRateLaw, LeavesSlowStartWithTheRateThatArrives) {
  UdtRateLaw control(kPayload, at(0s), 1);
  Rounds rounds(control);
  report(rounds, 5'000, 20'000);
  rounds.deliver(mbit(40));
  rounds.lose(kPayload);
  EXPECT_NEAR(packets_a_second(control), 5'000, 1);
}

TEST(UdtRateLaw, IsNotTrappedByALossBeforeTheFirstReport) {
  UdtRateLaw control(kPayload, at(0s), 1);
  control.on_loss({.now = at(1ms), .lost_bytes = kPayload, .new_epoch = true});
  EXPECT_GE(packets_a_second(control), 1'000) << "libudt has 16 here";
}

TEST(UdtRateLaw, FallsByANinthOncePerEpochAndAtMostFiveTimesWithin) {
  Delivering flow(20'000);
  flow.rounds.lose(kPayload);
  flow.rounds.lose(kPayload, true);
  EXPECT_NEAR(packets_a_second(flow.control), 10'000 / 1.125, 1);
  for (int loss = 0; loss < 100; ++loss) flow.rounds.lose(kPayload, false);
  EXPECT_NEAR(packets_a_second(flow.control), 10'000 / std::pow(1.125, 5), 1);
}

TEST(UdtRateLaw, GrowsByThePowerOfTenOfTheUnusedCapacity) {
  Delivering flow(20'000, 10ms);
  flow.lose_and_deliver();
  EXPECT_NEAR(packets_a_second(flow.control), 10'000, 1) << "not right after a loss";
  flow.deliver();
  // 10 000 packets a second of 8000 bits are left: 10^8 bits a second, 1.5e-6 of which are 0.15 packets in 10 ms.
  EXPECT_NEAR(packets_a_second(flow.control), 10'000 + 15, 1);
}

TEST(UdtRateLaw, GrowsEvenBeyondTheCapacityButSlowly) {
  Delivering flow(9'000, 10ms);
  flow.control.on_timeout(flow.rounds.now());
  flow.deliver();
  flow.deliver();
  EXPECT_NEAR(packets_a_second(flow.control), 10'000 + 2, 1);
}

TEST(UdtRateLaw, HoldsAWindowForTheRateAndSixteenMore) {
  Delivering flow(20'000, 90ms);
  flow.lose_and_deliver();
  EXPECT_NEAR(static_cast<double>(flow.control.window_bytes()), 1'016.0 * kPayload, 2 * kPayload);
}

TEST(UdtRateLaw, FillsACleanPathWithoutReportedRates) {
  const Path path{.rate = mbit(100), .rtt = 26ms, .buffer_bytes = 325'000};
  Bottleneck bottleneck(path);
  const auto& flow = bottleneck.add(CongestionKind::udt);
  bottleneck.run_until(20s);
  EXPECT_GE(share(path, flow.delivered_bytes(), 20s), 0.8);
}

}  // namespace
}  // namespace udtcat::transport::native::test
