// SPDX-License-Identifier: Apache-2.0
#include "wan/impairment.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace udtcat::wan {
namespace {

/// The indices of the segments, of `count`, that were struck.
std::vector<bool> strike_all(Impairment& impairment, std::size_t count) {
  std::vector<bool> struck(count, false);
  for (std::size_t i = 0; i < count; ++i) {
    if (impairment.unharmed() > 0) {
      impairment.pass(1);
      continue;
    }
    impairment.strike();
    struck[i] = true;
  }
  return struck;
}

struct Tally {
  double share;
  double mean_burst;
};
Tally tally(const std::vector<bool>& struck) {
  std::size_t strikes = 0;
  std::size_t bursts = 0;
  for (std::size_t i = 0; i < struck.size(); ++i) {
    strikes += struck[i];
    bursts += struck[i] && (i == 0 || !struck[i - 1]);
  }
  return {static_cast<double>(strikes) / static_cast<double>(struck.size()),
          bursts == 0 ? 0 : static_cast<double>(strikes) / static_cast<double>(bursts)};
}

constexpr std::size_t kMany = 2'000'000;

TEST(Impairment, OfNoProbabilityStrikesNobody) {
  Random random(1);
  Impairment none(0, 0, random);
  EXPECT_EQ(tally(strike_all(none, kMany)).share, 0);
}

TEST(Impairment, OfProbabilityOneStrikesEverybody) {
  Random random(1);
  Impairment all(1, 0, random);
  EXPECT_EQ(tally(strike_all(all, 1000)).share, 1);
}

TEST(Impairment, StrikesItsShareIndependently) {
  for (const double share : {0.001, 0.01, 0.3}) {
    Random random(7);
    Impairment impairment(share, 0, random);
    const Tally seen = tally(strike_all(impairment, kMany));
    const double sigma = std::sqrt(share * (1 - share) / static_cast<double>(kMany));
    EXPECT_NEAR(seen.share, share, 4 * sigma) << share;
    EXPECT_NEAR(seen.mean_burst, 1 / (1 - share), 0.03) << share;  // runs of independent strikes are this long
  }
}

TEST(Impairment, StrikesItsShareInBurstsOfTheirMeanLength) {
  for (const double length : {1.0, 4.0, 20.0}) {
    Random random(7);
    Impairment impairment(0.01, length, random);
    const Tally seen = tally(strike_all(impairment, kMany));
    EXPECT_NEAR(seen.share, 0.01, 0.0015) << length;
    EXPECT_NEAR(seen.mean_burst, length, 0.1 * length) << length;
  }
}

TEST(Impairment, LeavesASegmentBetweenDenseBursts) {
  for (const double length : {1.0, 4.0}) {
    Random random(7);
    Impairment impairment(length / (length + 1), length, random);
    EXPECT_NEAR(tally(strike_all(impairment, kMany)).share, length / (length + 1), 0.01) << length;
  }
}

TEST(Impairment, IsTheSameForTheSameSeed) {
  Random one(42);
  Random other(42);
  Impairment first(0.05, 3, one);
  Impairment second(0.05, 3, other);
  EXPECT_EQ(strike_all(first, 10'000), strike_all(second, 10'000));
}

}  // namespace
}  // namespace udtcat::wan
