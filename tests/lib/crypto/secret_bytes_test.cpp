// SPDX-License-Identifier: Apache-2.0
#include "lib/crypto/secret_bytes.hpp"

#include <set>
#include <type_traits>

#include <gtest/gtest.h>

namespace udtcat::crypto {
namespace {

static_assert(!std::is_copy_constructible_v<Secret32> && !std::is_copy_assignable_v<Secret32>);

TEST(SecretBytes, AreErasedWhereTheyMoveFrom) {
  Secret32 from;
  from.writable()[0] = std::byte{7};
  const Secret32 to = std::move(from);
  EXPECT_EQ(to.bytes()[0], std::byte{7});
  EXPECT_EQ(from.bytes()[0], std::byte{0});  // NOLINT: the erased source is the point
}

TEST(SecretBytes, AreErasedByAssignment) {
  Secret32 from;
  Secret32 to;
  from.writable()[31] = std::byte{7};
  to = std::move(from);
  EXPECT_EQ(to.bytes()[31], std::byte{7});
  EXPECT_EQ(from.bytes()[31], std::byte{0});  // NOLINT: the erased source is the point
}

TEST(SecretBytes, AreCopiedByDuplicateOnly) {
  Secret32 one;
  one.writable()[5] = std::byte{9};
  const Secret32 two = one.duplicate();
  EXPECT_EQ(two.bytes()[5], one.bytes()[5]);
}

TEST(Same, IsSoForEqualBytesOfEqualLength) {
  const std::array<std::byte, 3> bytes{std::byte{1}, std::byte{2}, std::byte{3}};
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    auto other = bytes;
    EXPECT_TRUE(same(bytes, other));
    other[at] ^= std::byte{0x80};
    EXPECT_FALSE(same(bytes, other));
  }
  EXPECT_FALSE(same(bytes, std::span(bytes).first(2)));
  EXPECT_TRUE(same({}, {}));
}

TEST(Randomise, DrawsOtherBytesEachTime) {
  std::array<std::byte, 16> one{};
  std::array<std::byte, 16> two{};
  ASSERT_TRUE(randomise(one));
  ASSERT_TRUE(randomise(two));
  EXPECT_NE(one, two);
}

TEST(Erase, LeavesZeros) {
  std::array<std::byte, 3> bytes{std::byte{1}, std::byte{2}, std::byte{3}};
  erase(bytes);
  EXPECT_EQ(bytes, (std::array<std::byte, 3>{}));
}

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
