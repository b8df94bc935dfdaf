// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/mtu_search.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/packet.hpp"
#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kOverhead = 28;

MtuSearch::Sizes sizes_up_to(std::size_t most_bytes) {
  return {.overhead_bytes = kOverhead, .least_bytes = 576, .most_bytes = most_bytes};
}

/// Runs a search over a path that carries `path_mtu`, for `time`.  returns   the largest IP packet found
std::size_t search_for(MtuSearch& search, TimePoint& now, std::size_t path_mtu, Duration time) {
  for (const TimePoint end = now + time; now < end; now += 10ms) {
    const auto probe = search.poll_probe(now, 60ms);
    if (probe && *probe + kOverhead <= path_mtu) std::ignore = search.on_reply(now, *probe);
  }
  return search.packet_bytes() + kOverhead;
}

TEST(MtuSearch, BeginsWithWhatEveryPathCarries) {
  const MtuSearch search(sizes_up_to(9000));
  EXPECT_EQ(search.packet_bytes(), 1280 - kOverhead);
  EXPECT_EQ(search.least_packet_bytes(), 576 - kOverhead);
}

TEST(MtuSearch, FindsWhatThePathCarries) {
  for (const std::size_t mtu : {1280UL, 1320UL, 1400UL, 1492UL, 1500UL, 4000UL, 9000UL}) {
    MtuSearch search(sizes_up_to(9000));
    TimePoint now = kStart;
    EXPECT_EQ(search_for(search, now, mtu, 10s), mtu);
  }
}

TEST(MtuSearch, TriesTheInterfacesOwnSizeFirst) {
  for (const std::size_t most : {1500UL, 1483UL, 8000UL, 65'535UL}) {
    MtuSearch search(sizes_up_to(most));
    EXPECT_EQ(search.poll_probe(kStart, 60ms), std::min(most - kOverhead, kMaxPacketBytes));
  }
}

TEST(MtuSearch, SendsThreeProbesBeforeItTakesASizeForLost) {
  MtuSearch search(sizes_up_to(9000));
  const auto first = search.poll_probe(kStart, 60ms);
  EXPECT_FALSE(search.poll_probe(kStart + 59ms, 60ms));
  EXPECT_EQ(search.deadline(), kStart + 60ms);
  EXPECT_EQ(search.poll_probe(kStart + 60ms, 60ms), first);
  EXPECT_EQ(search.poll_probe(kStart + 120ms, 60ms), first);
  EXPECT_LT(search.poll_probe(kStart + 180ms, 60ms), first);
}

TEST(MtuSearch, TakesTheSystemsRefusalForLossAtOnce) {
  MtuSearch search(sizes_up_to(9000));
  const auto first = search.poll_probe(kStart, 60ms);
  search.on_too_large(kStart, *first - 1);
  EXPECT_FALSE(search.poll_probe(kStart, 60ms)) << "that was another packet";
  search.on_too_large(kStart, *first);
  EXPECT_LT(search.poll_probe(kStart, 60ms), first);
}

TEST(MtuSearch, SearchesAgainAMinuteAfterItsEnd) {
  MtuSearch search(sizes_up_to(9000));
  TimePoint now = kStart;
  EXPECT_EQ(search_for(search, now, 1400, 10s), 1400U);
  EXPECT_GT(search.deadline(), now + 40s);
  EXPECT_EQ(search_for(search, now, 9000, 70s), 9000U);
}

TEST(MtuSearch, EndsWhenThereIsNothingLargerToTry) {
  MtuSearch search(sizes_up_to(1500));
  TimePoint now = kStart;
  EXPECT_EQ(search_for(search, now, 1500, 2s), 1500U);
  now += 61s;
  EXPECT_FALSE(search.poll_probe(now, 60ms));
  EXPECT_FALSE(search.deadline());
}

TEST(MtuSearch, GoesBackToTheBaseAtABlackHole) {
  MtuSearch search(sizes_up_to(1500));
  TimePoint now = kStart;
  search_for(search, now, 1500, 2s);
  search.on_black_hole(now);
  EXPECT_EQ(search.packet_bytes(), 1280 - kOverhead);
  EXPECT_EQ(search_for(search, now, 1360, 5s), 1360U);
}

TEST(MtuSearch, FindsASizeBelowItsBaseAtASecondBlackHole) {
  for (const std::size_t mtu : {576UL, 800UL, 1000UL, 1200UL}) {
    MtuSearch search(sizes_up_to(1500));
    TimePoint now = kStart;
    search_for(search, now, 1500, 2s);
    search.on_black_hole(now);
    search.on_black_hole(now);
    EXPECT_EQ(search.packet_bytes(), 576 - kOverhead);
    EXPECT_EQ(search_for(search, now, mtu, 5s), mtu);
    EXPECT_EQ(search_for(search, now, 1500, 70s), 1500U) << "and grows again";
  }
}

/// Proves: threat-model.icmp-floor
TEST(MtuSearch, GoesNotBelowTheLeastOfIpv6) {
  MtuSearch search({.overhead_bytes = 48, .least_bytes = 1280, .most_bytes = 1500});
  search.on_black_hole(kStart);
  search.on_black_hole(kStart);
  EXPECT_EQ(search.packet_bytes(), 1280 - 48U);
  EXPECT_FALSE(search.on_router_says(kStart, 600));
  EXPECT_EQ(search.packet_bytes(), 1280 - 48U);
}

TEST(MtuSearch, BeginsWithAnEarlierResultIfThatIsLess) {
  auto sizes = sizes_up_to(1500);
  sizes.found_bytes = 1000;
  EXPECT_EQ(MtuSearch(sizes).packet_bytes(), 1000 - kOverhead);
  sizes.found_bytes = 1500;
  EXPECT_EQ(MtuSearch(sizes).packet_bytes(), 1280 - kOverhead);
  sizes.found_bytes = 1;
  EXPECT_EQ(MtuSearch(sizes).packet_bytes(), 576 - kOverhead);
}

/// Proves: threat-model.icmp-floor
TEST(MtuSearch, TakesASmallerSizeFromIcmpAndSearchesAgain) {
  MtuSearch search(sizes_up_to(1500));
  TimePoint now = kStart;
  search_for(search, now, 1500, 2s);
  EXPECT_TRUE(search.on_router_says(now, 1100));
  EXPECT_EQ(search.packet_bytes(), 1000 - kOverhead);
  EXPECT_FALSE(search.on_router_says(now, 1100)) << "of its own probes";
  EXPECT_FALSE(search.on_router_says(now, 9000));
  EXPECT_EQ(search_for(search, now, 1500, 1s), 1500U) << "it was not";
  EXPECT_TRUE(search.on_router_says(now, 0));
  EXPECT_EQ(search.packet_bytes(), 576 - kOverhead);
}

TEST(MtuSearch, TakesAnInterfaceBelowItsBase) {
  MtuSearch search(sizes_up_to(76));
  EXPECT_EQ(search.packet_bytes(), 76 - kOverhead);
  search.on_black_hole(kStart);
  TimePoint now = kStart;
  EXPECT_EQ(search_for(search, now, 76, 2s), 76U);
}

TEST(MtuSearch, IgnoresRepliesToLargerProbesThanItSends) {
  MtuSearch search(sizes_up_to(1500));
  EXPECT_TRUE(search.on_reply(kStart, 0xffffffff));
  EXPECT_EQ(search.packet_bytes(), 1500 - kOverhead);
  EXPECT_FALSE(search.on_reply(kStart, 20)) << "and shrinks for nobody";
}

}  // namespace
}  // namespace udtcat::transport::native
