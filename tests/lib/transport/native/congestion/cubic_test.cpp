#include "lib/transport/native/congestion/cubic.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "lib/transport/native/congestion/bottleneck.hpp"
#include "lib/transport/native/congestion/events.hpp"
#include "lib/transport/native/congestion/rate_math.hpp"

namespace udtcat::transport::native::test {
namespace {

double packets(const Cubic& control) { return static_cast<double>(control.window_bytes()) / kPayload; }

/// At about a thousand packets, slow start over.
void grow_to_thousand(Cubic& control, Rounds& rounds) {
  while (packets(control) < 1'000) rounds.deliver(BitRate::from_bytes_per(control.window_bytes(), 100ms));
  rounds.lose(kPayload);
}

TEST(Cubic, DoublesItsWindowInARoundTripOfSlowStart) {
  Cubic control(kPayload);
  Rounds rounds(control);
  rounds.use_window();
  EXPECT_EQ(packets(control), 32);
  rounds.deliver(BitRate::from_bytes_per(32 * kPayload, 100ms));
  EXPECT_EQ(packets(control), 64);
  EXPECT_EQ(control.pacing_rate(), BitRate::from_bytes_per(128 * kPayload, 100ms));
}

TEST(Cubic, KeepsSevenTenthsAfterALossAndOncePerEpoch) {
  Cubic control(kPayload);
  Rounds rounds(control);
  rounds.use_window();
  while (packets(control) < 1'000) rounds.deliver(BitRate::from_bytes_per(control.window_bytes(), 100ms));
  const double before = packets(control);
  rounds.lose(kPayload);
  EXPECT_NEAR(packets(control), 0.7 * before, 1);
  rounds.lose(50 * kPayload, false);
  EXPECT_NEAR(packets(control), 0.7 * before, 1);
}

TEST(Cubic, ReturnsToThePlateauAfterItsTimeAndPassesIt) {
  Cubic control(kPayload);
  Rounds rounds(control);
  rounds.use_window();
  grow_to_thousand(control, rounds);
  const double plateau = packets(control) / 0.7;
  const double k_seconds = std::cbrt(0.3 * plateau / 0.4);
  while (seconds_of(rounds.now() - TimePoint{}) < 0.5 + k_seconds)
    rounds.deliver(BitRate::from_bytes_per(control.window_bytes(), 100ms));
  EXPECT_NEAR(packets(control), plateau, 0.02 * plateau);
  for (int round = 0; round < 60; ++round) rounds.deliver(BitRate::from_bytes_per(control.window_bytes(), 100ms));
  EXPECT_GT(packets(control), 1.05 * plateau);
}

TEST(Cubic, ReleasesBandwidthIfItsPeaksSink) {
  Cubic control(kPayload);
  Rounds rounds(control);
  rounds.use_window();
  grow_to_thousand(control, rounds);
  const double first = packets(control);
  rounds.lose(kPayload);
  EXPECT_NEAR(packets(control), 0.7 * first, 1);
  const double aim = first * 1.7 / 2;  // W_max by fast convergence
  const double k_seconds = std::cbrt((aim - 0.7 * first) / 0.4);
  const auto start = rounds.now();
  while (rounds.now() - start < duration_of(k_seconds))
    rounds.deliver(BitRate::from_bytes_per(control.window_bytes(), 100ms));
  EXPECT_NEAR(packets(control), aim, 0.03 * aim);
}

TEST(Cubic, GrowsAtLeastAsReno) {
  Cubic control(kPayload);
  Rounds rounds(control, 5ms);
  rounds.use_window();
  while (packets(control) < 100) rounds.deliver(BitRate::from_bytes_per(control.window_bytes(), 5ms));
  rounds.lose(kPayload);
  const double before = packets(control);
  // CUBIC's own curve is flat for seconds; Reno adds 0.53 packets a round trip, and one once it is where it was.
  for (int round = 0; round < 100; ++round) rounds.deliver(BitRate::from_bytes_per(control.window_bytes(), 5ms));
  EXPECT_GE(packets(control), before + 50);
}

TEST(Cubic, DoesNotGrowAWindowThatIsNotUsed) {
  Cubic control(kPayload);
  Rounds rounds(control);
  for (int round = 0; round < 20; ++round) rounds.deliver(mbit(1), 0, true);
  EXPECT_EQ(packets(control), 32);
}

TEST(Cubic, BeginsAnewAfterATimeoutUpToWhereItWas) {
  Cubic control(kPayload);
  Rounds rounds(control);
  rounds.use_window();
  grow_to_thousand(control, rounds);
  const double before = packets(control);
  control.on_timeout(rounds.now());
  control.on_timeout(rounds.now());
  EXPECT_EQ(packets(control), 2);
  for (int round = 0; round < 12; ++round) rounds.deliver(BitRate::from_bytes_per(control.window_bytes(), 100ms));
  EXPECT_NEAR(packets(control), 0.7 * before, 0.35 * before) << "not further reduced by the second timeout";
}

TEST(Cubic, KeepsItsBytesWhenPacketsChange) {
  Cubic control(kPayload);
  control.on_packet_size(2 * kPayload);
  EXPECT_EQ(control.window_bytes(), 32 * kPayload);
}

TEST(Cubic, FillsACleanPath) {
  const Path path{.rate = mbit(100), .rtt = 26ms, .buffer_bytes = 325'000};
  Bottleneck bottleneck(path);
  const auto& flow = bottleneck.add(CongestionKind::cubic);
  bottleneck.run_until(20s);
  EXPECT_GE(share(path, flow.delivered_bytes(), 20s), 0.95);
}

}  // namespace
}  // namespace udtcat::transport::native::test
