#include "lib/transport/native/index_ranges.hpp"

#include <random>
#include <set>

#include <gtest/gtest.h>

namespace udtcat::transport::native {
namespace {

TEST(IndexRanges, AreWhatASetOfIndicesIs) {
  IndexRanges ranges;
  std::set<PacketIndex> set;
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const PacketIndex index = random() % 64;
    const bool add = random() % 2 == 0;
    add ? ranges.insert(index) : ranges.erase(index);
    add ? static_cast<void>(set.insert(index)) : static_cast<void>(set.erase(index));
    ASSERT_EQ(ranges.empty(), set.empty());
    if (!set.empty()) {
      ASSERT_EQ(ranges.front(), *set.begin());
    }
    const PacketIndex asked = random() % 66;
    ASSERT_EQ(ranges.contains(asked), set.contains(asked));
  }
}

TEST(IndexRanges, EmptyThemselvesFromTheFront) {
  IndexRanges ranges;
  for (PacketIndex i = 10; i < 20; ++i) ranges.insert(i);
  for (PacketIndex i = 10; i < 20; ++i) {
    EXPECT_EQ(ranges.front(), i);
    ranges.erase(i);
  }
  EXPECT_TRUE(ranges.empty());
}

}  // namespace
}  // namespace udtcat::transport::native
