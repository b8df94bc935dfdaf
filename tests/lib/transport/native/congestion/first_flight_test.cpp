// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/congestion/first_flight.hpp"

#include <gtest/gtest.h>

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kFlightPayload = 1000;

/// The ACK of a packet that so many, itself included, were in flight with.
AckEvent ack_of(std::size_t packets, Duration rtt, Duration least_rtt) {
  AckEvent ack;
  ack.rtt = rtt;
  ack.least_rtt = least_rtt;
  ack.rate = RateSample{.delivered_bytes = packets * kFlightPayload,
                        .interval = rtt,
                        .prior_delivered_bytes = 0,
                        .in_flight_at_send_bytes = packets * kFlightPayload};
  return ack;
}

TEST(FirstFlight, AllowsMuchWhereItsLastPacketDidNotWait) {
  FirstFlight flight(kFlightPayload);
  EXPECT_FALSE(flight.on_ack(ack_of(1, 75ms, 75ms))) << "the first packet shows nothing";
  const auto allowance = flight.on_ack(ack_of(10, 76ms, 75ms));
  ASSERT_TRUE(allowance);
  EXPECT_EQ(allowance->window_bytes, 120 * kFlightPayload);
}

TEST(FirstFlight, AllowsNoMoreThanItsPacketsHaveShown) {
  FirstFlight flight(kFlightPayload);
  const auto allowance = flight.on_ack(ack_of(10, 79ms, 75ms));
  ASSERT_TRUE(allowance);
  EXPECT_LT(allowance->pacing_rate, BitRate::from_bytes_per(10 * kFlightPayload, 4ms));
}

TEST(FirstFlight, AllowsNothingWhereItsLastPacketWaited) {
  FirstFlight flight(kFlightPayload);
  EXPECT_FALSE(flight.on_ack(ack_of(10, 85ms, 75ms)));
  EXPECT_FALSE(flight.on_ack(ack_of(10, 75ms, 75ms))) << "once is enough";
}

TEST(FirstFlight, TakesTheRoundTripOfItsFirstPacketsForTheMinimum) {
  FirstFlight flight(kFlightPayload);
  AckEvent ack = ack_of(1, 75ms, 75ms);
  ack.least_rtt.reset();
  EXPECT_FALSE(flight.on_ack(ack));
  ack.rtt = 85ms;
  ack.rate->in_flight_at_send_bytes = 10 * kFlightPayload;
  EXPECT_FALSE(flight.on_ack(ack));
}

}  // namespace
}  // namespace udtcat::transport::native
