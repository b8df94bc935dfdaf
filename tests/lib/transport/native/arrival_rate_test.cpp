#include "lib/transport/native/arrival_rate.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

TEST(ArrivalRate, IsUnknownAtFirst) {
  ArrivalRate rate;
  rate.on_packet();
  rate.settle(kStart);
  EXPECT_EQ(rate.rate_packets(), 0U);
  EXPECT_EQ(rate.capacity_packets(), 0U);
}

TEST(ArrivalRate, IsThatOfTheLastInterval) {
  ArrivalRate rate;
  rate.settle(kStart);
  for (int i = 0; i < 100; ++i) rate.on_packet();
  rate.settle(kStart + 5ms);
  EXPECT_EQ(rate.rate_packets(), 0U) << "too short";
  rate.settle(kStart + 10ms);
  EXPECT_NEAR(rate.rate_packets(), 10'000, 2);
  EXPECT_NEAR(rate.capacity_packets(), 20'000, 4);
}

TEST(ArrivalRate, SaysNothingNewOfAPause) {
  ArrivalRate rate;
  rate.settle(kStart);
  for (int i = 0; i < 100; ++i) rate.on_packet();
  rate.settle(kStart + 10ms);
  rate.settle(kStart + 1h);
  EXPECT_NEAR(rate.rate_packets(), 10'000, 2);
}

}  // namespace
}  // namespace udtcat::transport::native
