// SPDX-License-Identifier: Apache-2.0
/// src/lib/transport/native: connections on random links.

#include <algorithm>
#include <array>
#include <iostream>

#include <gtest/gtest.h>

#include "lib/transport/native/random_link.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kLinks = 1000;
constexpr std::size_t kWorstShown = 10;

/// Links on which both hold, the worst of a thousand that are quick to simulate. The soak test runs all, and names
/// those that fail.
constexpr auto kQuickLinks = std::to_array<std::uint64_t>(
    {46,  440, 481, 73,  137, 150, 164, 171, 234, 235, 240, 289, 326, 335, 351, 407, 457, 528, 541, 549,
     559, 569, 594, 609, 636, 650, 653, 705, 724, 733, 839, 851, 875, 884, 890, 905, 913, 928, 987});

TEST(RandomLink, KeepsHalfOfASimpleBoundAndStallsForFiveRoundTripsAndASecondAtMost) {
  for (const std::uint64_t seed : kQuickLinks) {
    const LinkResult result = run_over(link_of(seed));
    EXPECT_TRUE(result.is_fast() && result.goes_on()) << result.line();
  }
}

TEST(RandomLink, SoakKeepsHalfOfTheBoundOnAThousandLinks) {
  std::vector<LinkResult> results;
  for (std::uint64_t seed = 1; seed <= kLinks; ++seed) {
    results.push_back(run_over(link_of(seed)));
    EXPECT_TRUE(results.back().is_fast() && results.back().goes_on()) << results.back().line();
  }
  std::ranges::sort(results, {}, &LinkResult::share);
  std::cout << "The worst:\n";
  for (std::size_t i = 0; i < kWorstShown; ++i) std::cout << results[i].line() << "\n";
}

TEST(RandomLink, IsTheSameForTheSameSeedAndWithinTheRangesForAll) {
  EXPECT_EQ(link_of(17).description(), link_of(17).description());
  for (std::uint64_t seed = 1; seed <= kLinks; ++seed) {
    const RandomLink link = link_of(seed);
    for (const PathSettings& path : {link.first, link.later.value_or(link.first)}) {
      EXPECT_GE(path.rate.bits_per_second(), 63'999U) << link.description();
      EXPECT_LE(path.rate.bits_per_second(), 10'000'000'000U) << link.description();
      EXPECT_GE(path.delay, 499us) << link.description();
      EXPECT_LE(path.delay, 350ms) << link.description();
      EXPECT_GE(path.queue_bytes, 4 * path.mtu) << link.description();
      EXPECT_GE(path.queue_bytes, path.rate.bytes_per_second() / 10'001) << link.description();
      EXPECT_LE(path.lost_share(), 0.3001) << link.description();
    }
  }
}

}  // namespace
}  // namespace udtcat::transport::native
