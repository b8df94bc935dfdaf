#include "lib/connection/rate_share.hpp"

#include <gtest/gtest.h>

namespace udtcat::connection {
namespace {

TransportOptions limited(std::uint64_t bits_per_second) {
  TransportOptions options;
  options.rate = BitRate::from_bits_per_second(bits_per_second);
  return options;
}

TEST(RateShare, IsTheWholeOfOneFlow) {
  EXPECT_EQ(share_of_each_flow(limited(400), std::nullopt).rate.bits_per_second(), 400U);
  EXPECT_EQ(share_of_each_flow(limited(400), 1).rate.bits_per_second(), 400U);
}

TEST(RateShare, IsAnEqualPartOfSeveral) { EXPECT_EQ(share_of_each_flow(limited(400), 4).rate.bits_per_second(), 100U); }

TEST(RateShare, OfNoLimitIsNone) { EXPECT_TRUE(share_of_each_flow(limited(0), 4).rate.unlimited()); }

TEST(RateShare, OfALimitIsNeverNone) {
  EXPECT_FALSE(share_of_each_flow(limited(3), 16).rate.unlimited());
  EXPECT_GT(share_of_each_flow(limited(3), 16).rate.bytes_per_second(), 0U);
}

}  // namespace
}  // namespace udtcat::connection
