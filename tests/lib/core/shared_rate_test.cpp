// SPDX-License-Identifier: Apache-2.0
#include "lib/core/shared_rate.hpp"

#include <tuple>

#include <gtest/gtest.h>

namespace udtcat::core {
namespace {

using namespace std::chrono_literals;

class SharedRates : public testing::Test {
 protected:
  SharedRate rate{BitRate::from_bits_per_second(8'000'000)};  // a byte a microsecond
  SharedRate::TimePoint now{1h};
};

TEST_F(SharedRates, LetABurstPassAtOnceAndThenTheRate) {
  EXPECT_EQ(rate.pass(50'000, now), now);
  EXPECT_EQ(rate.pass(100'000, now), now + 100ms);
  EXPECT_EQ(rate.pass(1'000, now + 40ms), now + 101ms) << "whoever asks, and when";
  EXPECT_EQ(rate.pass(50'000, now + 10s), now + 10s) << "a pause is no credit beyond the burst";
}

TEST_F(SharedRates, AreTakenInPiecesOfABurst) {
  EXPECT_EQ(rate.piece_bytes(), 50'000U);
  EXPECT_EQ(SharedRate(BitRate::from_bits_per_second(1)).piece_bytes(), SharedRate::kMinPieceBytes);
}

TEST_F(SharedRates, CanBeSetWhileTheyAreUsed) {
  std::ignore = rate.pass(50'000, now);
  rate.set(BitRate::from_bits_per_second(4'000'000));
  EXPECT_EQ(rate.pass(50'000, now), now + 100ms);
  rate.set({});
  EXPECT_EQ(rate.pass(1'000'000'000, now + 1s), now + 1s - SharedRate::kBurst);
}

}  // namespace
}  // namespace udtcat::core
