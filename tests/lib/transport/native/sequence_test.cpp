// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/sequence.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>

namespace udtcat::transport::native {
namespace {

TEST(SequenceSpace, BeginsWhereItIsTold) {
  const SequenceSpace space(1000);
  EXPECT_EQ(space.on_wire(0), 1000U);
  EXPECT_EQ(space.index_of(1000, 0), 0U);
  EXPECT_EQ(space.index_of(1005, 0), 5U);
}

TEST(SequenceSpace, WrapsAfterThirtyOneBits) {
  const SequenceSpace space(kSequenceMask);
  EXPECT_EQ(space.on_wire(0), kSequenceMask);
  EXPECT_EQ(space.on_wire(1), 0U);
  EXPECT_EQ(space.index_of(0, 0), 1U);
  const PacketIndex far = (std::uint64_t{1} << 40) + 3;
  EXPECT_EQ(space.index_of(space.on_wire(far), far - 1000), far);
  EXPECT_EQ(space.index_of(space.on_wire(far), far + 1000), far);
}

TEST(SequenceSpace, HasNoIndexBeforeTheFirstPacket) {
  const SequenceSpace space(1000);
  EXPECT_FALSE(space.index_of(999, 0));
  EXPECT_FALSE(space.index_of(990, 5));
  EXPECT_EQ(space.index_of(1000, 5), 0U);
}

TEST(SequenceSpace, HasNoIndexForANumberWithBit31) {
  EXPECT_FALSE(SequenceSpace(0).index_of(0x80000000, 0));
  EXPECT_FALSE(SequenceSpace(0).index_of(0xffffffff, 1U << 31));
}

TEST(IndexedRing, KeepsTheIndexOfEachElement) {
  IndexedRing<std::uint64_t> ring;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ring.push_back(i);
    if (i % 3 == 2) ring.pop_front();
    ASSERT_EQ(ring[ring.begin_index()], ring.begin_index());
    ASSERT_EQ(ring[i], i);
  }
  EXPECT_EQ(ring.size(), ring.end_index() - ring.begin_index());
  EXPECT_FALSE(ring.contains(ring.begin_index() - 1));
  EXPECT_FALSE(ring.contains(ring.end_index()));
  EXPECT_FALSE(ring.contains(UINT64_MAX));
}

TEST(IndexedRing, FreesAnElementThatLeaves) {
  IndexedRing<std::shared_ptr<int>> ring;
  const auto held = ring.push_back(std::make_shared<int>(1));
  ring.pop_front();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_TRUE(ring.empty());
}

TEST(IndexRanges, AreASetOfIndices) {
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

TEST(IndexRanges, AreErasedFromTheFront) {
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
