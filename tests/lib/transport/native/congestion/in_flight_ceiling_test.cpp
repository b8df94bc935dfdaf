#include "lib/transport/native/congestion/in_flight_ceiling.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/congestion/events.hpp"

namespace udtcat::transport::native::test {
namespace {

TEST(InFlightCeiling, IsUnboundedUntilItIsSet) {
  InFlightCeiling ceiling;
  EXPECT_FALSE(ceiling.bounded());
  EXPECT_EQ(ceiling.with_headroom(), kUnbounded);
  ceiling.set(100'000);
  EXPECT_EQ(ceiling.bytes(), 100'000U);
  EXPECT_EQ(ceiling.with_headroom(), 85'000U);
}

TEST(InFlightCeiling, RisesByTwiceAsManyPacketsInEachRoundTripOfAProbe) {
  constexpr std::uint64_t kWindow = 100 * kPayload;
  InFlightCeiling ceiling;
  ceiling.set(kWindow);
  ceiling.start_probe();
  std::uint64_t expected = kWindow;
  for (const std::uint64_t packets : {1U, 2U, 4U, 8U}) {
    ceiling.steepen(kWindow, kPayload);
    for (int ack = 0; ack < 10; ++ack) ceiling.raise(kWindow / 10, kPayload);
    expected += packets * kPayload;
    EXPECT_NEAR(static_cast<double>(ceiling.bytes()), static_cast<double>(expected), kPayload);
  }
}

TEST(InFlightCeiling, NeverRisesFasterThanWhatArrives) {
  InFlightCeiling ceiling;
  ceiling.set(10 * kPayload);
  ceiling.start_probe();
  for (int round = 0; round < 40; ++round) ceiling.steepen(10 * kPayload, kPayload);
  ceiling.raise(10 * kPayload, kPayload);
  EXPECT_EQ(ceiling.bytes(), 20 * kPayload);
}

}  // namespace
}  // namespace udtcat::transport::native::test
