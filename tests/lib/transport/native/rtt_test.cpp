// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/rtt.hpp"

#include <gtest/gtest.h>

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

TEST(RttEstimator, BeginsWithAGuess) {
  const RttEstimator rtt;
  EXPECT_FALSE(rtt.measured());
  EXPECT_FALSE(rtt.minimum());
  EXPECT_EQ(rtt.timeout(), 300ms);
}

TEST(RttEstimator, TakesTheFirstSampleAsItIs) {
  RttEstimator rtt;
  rtt.on_sample(40ms);
  EXPECT_EQ(rtt.smoothed(), 40ms);
  EXPECT_EQ(rtt.variation(), 20ms);
  EXPECT_EQ(rtt.minimum(), 40ms);
}

TEST(RttEstimator, SettlesOnASteadyPath) {
  RttEstimator rtt;
  for (int i = 0; i < 100; ++i) rtt.on_sample(40ms);
  EXPECT_EQ(rtt.smoothed(), 40ms);
  EXPECT_EQ(rtt.timeout(), 40ms + RttEstimator::kGranularity);
}

TEST(RttEstimator, RemembersTheLeast) {
  RttEstimator rtt;
  for (const auto sample : {40ms, 30ms, 90ms}) rtt.on_sample(sample);
  EXPECT_EQ(rtt.minimum(), 30ms);
  EXPECT_EQ(rtt.latest(), 90ms);
  rtt.reset();
  EXPECT_FALSE(rtt.measured() || rtt.minimum());
}

TEST(RttEstimator, TakesAZeroSampleForAMicrosecond) {
  RttEstimator rtt;
  rtt.on_sample(-5ms);
  EXPECT_GT(rtt.smoothed(), 0ns);
}

}  // namespace
}  // namespace udtcat::transport::native
