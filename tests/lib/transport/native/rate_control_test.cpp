// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/rate_control.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kRatePayload = 1000;

RateControl fixed_rate(std::uint64_t bits_per_second) {
  const auto cap = BitRate::from_bits_per_second(bits_per_second);
  return {{.kind = CongestionKind::fixed, .cap = cap}, kStart, kRatePayload, std::nullopt};
}

SentPacket packet_of_train(std::uint8_t packets, std::uint8_t place) {
  return {.bytes = kRatePayload,
          .sends = 1,
          .train_packets = packets,
          .train_place = place,
          .sent_at = kStart,
          .snapshot = {}};
}

TEST(RateControl, PacesAtTheCapWhereThatIsLess) { EXPECT_EQ(fixed_rate(8'000'000).pacer().paced_time(1'000'000), 1s); }

TEST(RateControl, IsAtTheCapWhereCongestionControlWouldSendFaster) {
  EXPECT_TRUE(fixed_rate(8'000'000).is_at_cap());
  const RateControl unlimited({}, kStart, kRatePayload, std::nullopt);
  EXPECT_FALSE(unlimited.is_at_cap());
}

TEST(RateControl, ShortensTrainsWhoseSecondHalvesAreLost) {
  RateControl rate = fixed_rate(800'000'000);
  const std::size_t before = rate.pacer().train_bytes(kRatePayload);
  for (int i = 0; i < 32; ++i) rate.on_train_loss(kStart, packet_of_train(64, 60), kRatePayload);
  EXPECT_LT(rate.pacer().train_bytes(kRatePayload), before);
}

TEST(RateControl, LearnsNothingFromTheLossOfAShortTrain) {
  RateControl rate = fixed_rate(800'000'000);
  const std::size_t before = rate.pacer().train_bytes(kRatePayload);
  for (int i = 0; i < 32; ++i) rate.on_train_loss(kStart, packet_of_train(3, 2), kRatePayload);
  EXPECT_EQ(rate.pacer().train_bytes(kRatePayload), before);
}

TEST(RateControl, ForgetsATimeoutWhenItIsRestarted) {
  RateControl rate({}, kStart, kRatePayload, std::nullopt);
  const std::uint64_t first_window = rate.window_bytes();
  rate.on_timeout(kStart + 1s);
  EXPECT_LT(rate.window_bytes(), first_window);
  rate.restart(kStart + 1s, kRatePayload);
  EXPECT_EQ(rate.window_bytes(), first_window);
}

}  // namespace
}  // namespace udtcat::transport::native
