// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/receive_coalescing.hpp"

#include <gtest/gtest.h>

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kBuffer = 8 << 20;

TimePoint at(Duration since) { return TimePoint{} + 1h + since; }

Duration after_wake(ReceiveCoalescing& coalescing, TimePoint now, std::size_t bytes, Duration rtt) {
  coalescing.on_read(bytes);
  coalescing.on_connection(rtt);
  return coalescing.after_wake(now);
}

TEST(ReceiveCoalescing, ReadsTheFirstDatagramAfterAPauseAtOnce) {
  ReceiveCoalescing coalescing(kBuffer);
  EXPECT_EQ(after_wake(coalescing, at(0ms), 1500, 100ms), 0ms);
  EXPECT_EQ(after_wake(coalescing, at(10ms), 1500, 100ms), 0ms);
}

TEST(ReceiveCoalescing, LetsAStreamOfDatagramsGather) {
  ReceiveCoalescing coalescing(kBuffer);
  std::ignore = after_wake(coalescing, at(0ms), 1500, 100ms);
  EXPECT_EQ(after_wake(coalescing, at(120us), 1500, 100ms), 2ms);
  EXPECT_EQ(after_wake(coalescing, at(1200us), 15'000, 100ms), 2ms);
  EXPECT_EQ(after_wake(coalescing, at(2300us), 0, 100ms), 0ms) << "the stream has ended";
}

TEST(ReceiveCoalescing, DelaysByASmallPartOfTheShortestRoundTripAtMost) {
  ReceiveCoalescing coalescing(kBuffer);
  std::ignore = after_wake(coalescing, at(0ms), 1500, 8ms);
  EXPECT_EQ(after_wake(coalescing, at(120us), 1500, 8ms), 500us);
  EXPECT_EQ(after_wake(coalescing, at(240us), 1500, 1ms), 0ms) << "on a LAN it is not worth a timer";
}

TEST(ReceiveCoalescing, LetsAPartOfTheBufferGatherAtMost) {
  ReceiveCoalescing coalescing(200'000);
  std::ignore = after_wake(coalescing, at(0ms), 1500, 100ms);
  EXPECT_EQ(after_wake(coalescing, at(1ms), 100'000, 100ms), 250us);
  EXPECT_EQ(after_wake(coalescing, at(2ms), 1'000'000, 100ms), 0ms);
}

}  // namespace
}  // namespace udtcat::transport::native
