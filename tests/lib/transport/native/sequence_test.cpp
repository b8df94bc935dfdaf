#include "lib/transport/native/sequence.hpp"

#include <gtest/gtest.h>

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

TEST(SequenceSpace, KnowsNothingBeforeTheFirstPacket) {
  const SequenceSpace space(1000);
  EXPECT_FALSE(space.index_of(999, 0));
  EXPECT_FALSE(space.index_of(990, 5));
  EXPECT_EQ(space.index_of(1000, 5), 0U);
}

TEST(SequenceSpace, TakesNoNumberWithItsHighestBit) {
  EXPECT_FALSE(SequenceSpace(0).index_of(0x80000000, 0));
  EXPECT_FALSE(SequenceSpace(0).index_of(0xffffffff, 1U << 31));
}

}  // namespace
}  // namespace udtcat::transport::native
