#include "lib/core/prefix_counts.hpp"

#include <gtest/gtest.h>

namespace udtcat::core {
namespace {

TEST(PrefixCounts, TellHowMuchEachHasAndAllTogether) {
  PrefixCounts held;
  for (const Prefix prefix : {1U, 2U, 2U}) held.add(prefix);
  EXPECT_EQ(held.of(1), 1U);
  EXPECT_EQ(held.of(2), 2U);
  EXPECT_EQ(held.of(3), 0U);
  EXPECT_EQ(held.all(), 3U);
}

TEST(PrefixCounts, ForgetWhatIsGivenBack) {
  PrefixCounts held;
  for (const Prefix prefix : {1U, 2U, 2U}) held.add(prefix);
  held.remove(1);
  held.remove(2);
  EXPECT_EQ(held.of(1), 0U);
  EXPECT_EQ(held.of(2), 1U);
  EXPECT_EQ(held.all(), 1U);
}

}  // namespace
}  // namespace udtcat::core
