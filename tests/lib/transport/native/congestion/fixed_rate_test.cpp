#include "lib/transport/native/congestion/fixed_rate.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/congestion/bottleneck.hpp"
#include "lib/transport/native/congestion/events.hpp"
#include "lib/transport/native/congestion/rate_math.hpp"

namespace udtcat::transport::native::test {
namespace {

TEST(FixedRate, PacesAtItsRateWhateverIsLost) {
  FixedRate control(kPayload, mbit(80));
  Rounds rounds(control);
  for (int round = 0; round < 10; ++round) rounds.deliver(mbit(10), 500'000);
  control.on_timeout(rounds.now());
  EXPECT_EQ(control.pacing_rate(), mbit(80));
}

TEST(FixedRate, KeepsAWindowOfTwoRoundTrips) {
  FixedRate control(kPayload, mbit(80));
  EXPECT_EQ(control.window_bytes(), 1'000'000U) << "a tenth of a second, before the path is known";
  Rounds rounds(control, 200ms);
  rounds.deliver(mbit(80));
  EXPECT_EQ(control.window_bytes(), 4'000'000U);
}

TEST(FixedRate, KeepsAWindowWorthSendingAtTheLowestRate) {
  EXPECT_EQ(FixedRate(kPayload, mbit(0)).window_bytes(), kUnbounded) << "unlimited";
  EXPECT_EQ(FixedRate(kPayload, BitRate::from_bits_per_second(1)).window_bytes(), 32 * kPayload);
}

TEST(FixedRate, DeliversItsRateOverALossyPath) {
  const Path path{.rate = mbit(100), .rtt = 50ms, .buffer_bytes = 1'000'000, .loss = 0.02};
  Bottleneck bottleneck(path);
  const auto& flow = bottleneck.add(CongestionKind::fixed, {}, mbit(50));
  bottleneck.run_until(10s);
  EXPECT_NEAR(share(path, flow.delivered_bytes(), 10s), 0.5 * 0.98, 0.01);
}

}  // namespace
}  // namespace udtcat::transport::native::test
