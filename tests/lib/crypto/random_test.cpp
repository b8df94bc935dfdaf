#include "lib/crypto/random.hpp"

#include <set>

#include <gtest/gtest.h>

namespace udtcat::crypto {
namespace {

TEST(Random, NumbersDoNotRepeatAndUseAllTheirBits) {
  std::set<std::uint64_t> seen;
  std::uint64_t ever_set = 0;
  std::uint64_t always_set = UINT64_MAX;
  for (int i = 0; i < 256; ++i) {
    const auto number = random_u64();
    ASSERT_TRUE(number);
    EXPECT_TRUE(seen.insert(*number).second);
    ever_set |= *number;
    always_set &= *number;
  }
  EXPECT_EQ(ever_set, UINT64_MAX);
  EXPECT_EQ(always_set, 0U);
}

}  // namespace
}  // namespace udtcat::crypto
