// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/reverse_path_delay.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"
#include "lib/transport/native/simulated_path.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

TEST(ReversePathDelay, IsTheRoundTripWithoutTheForwardQueue) {
  ReversePathDelay delay;
  delay.on_ack(kStart, 1'000, 501'000, 40ms, 40ms);
  EXPECT_EQ(delay.value(), 0ms);
  delay.on_ack(kStart, 2'000, 502'000, 140ms, 40ms);
  EXPECT_EQ(delay.value(), 100ms) << "the packet came as fast as ever";
  delay.on_ack(kStart, 3'000, 563'000, 140ms, 40ms);
  EXPECT_EQ(delay.value(), 40ms) << "the packet itself waited for 60 ms";
}

TEST(ReversePathDelay, IsZeroForAForwardQueue) {
  ReversePathDelay delay;
  delay.on_ack(kStart, 1'000, 501'000, 40ms, 40ms);
  delay.on_ack(kStart, 2'000, 602'000, 140ms, 40ms);
  EXPECT_EQ(delay.value(), 0ms);
}

TEST(ReversePathDelay, IsTheSameThoughClocksWrapOrDrift) {
  ReversePathDelay delay;
  delay.on_ack(kStart, 0xffff'fff0, 5, 40ms, 40ms);
  delay.on_ack(kStart, 10, 31, 140ms, 40ms);
  EXPECT_EQ(delay.value(), 100ms);
  delay.on_ack(kStart + 100s, 20, 10'041, 140ms, 40ms);
  EXPECT_EQ(delay.value(), 100ms) << "a ten-thousandth of a hundred seconds is no queue";
}

TEST(ReversePathDelay, IsNeverMoreThanASecond) {
  ReversePathDelay delay;
  delay.on_ack(kStart, 0, 0, 40ms, 40ms);
  delay.on_ack(kStart, 0, 0, 40s, 40ms);
  EXPECT_EQ(delay.value(), 1s);
}

TEST(LoadedReversePath, LeavesTheForwardPathToTheData) {
  using enum SimulatedPath::End;
  SimulatedPath path({.rate = BitRate::from_bits_per_second(300'000'000), .delay = 20ms});
  path.path(kFar).rate = BitRate::from_bits_per_second(5'000'000);
  path.write_on(kNear);
  // Every two seconds another flow fills the queue of the reverse path, and stops.
  for (int step = 0; step < 600; ++step) {
    path.path(kFar).delay = 20ms + step % 200 * 2ms;
    path.run_for(10ms);
  }
  EXPECT_GT(static_cast<double>(path.read_bytes(kFar)) * 8 / 6, 0.6 * 300e6);
  EXPECT_TRUE(path.intact());
}

}  // namespace
}  // namespace udtcat::transport::native
