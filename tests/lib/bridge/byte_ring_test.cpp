// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/byte_ring.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace udtcat::bridge {
namespace {

void fill(ByteRing& ring, char value, std::size_t bytes) {
  std::fill_n(ring.writable().begin(), bytes, static_cast<std::byte>(value));
  ring.commit(bytes);
}

TEST(ByteRing, StartsEmptyAndLendsAllItsMemory) {
  ByteRing ring(8);
  EXPECT_EQ(ring.writable().size(), 8U);
  EXPECT_TRUE(ring.readable().empty());
}

TEST(ByteRing, LendsNothingWhenFull) {
  ByteRing ring(8);
  fill(ring, 'a', 8);
  EXPECT_TRUE(ring.writable().empty());
  EXPECT_EQ(ring.readable().size(), 8U);
}

TEST(ByteRing, KeepsOrderAcrossTheEndOfItsMemory) {
  ByteRing ring(8);
  fill(ring, 'a', 6);
  ring.consume(5);
  fill(ring, 'b', 2);
  fill(ring, 'c', 4);
  EXPECT_EQ(ring.free_bytes(), 1U);
  ASSERT_EQ(ring.readable().size(), 3U);
  EXPECT_EQ(ring.readable()[0], std::byte{'a'});
  EXPECT_EQ(ring.readable()[2], std::byte{'b'});
  ring.consume(3);
  ASSERT_EQ(ring.readable().size(), 4U);
  EXPECT_EQ(ring.readable()[3], std::byte{'c'});
}

TEST(ByteRing, LendsTheSameFreeBytesWhileOldOnesAreConsumed) {
  ByteRing ring(8);
  fill(ring, 'a', 4);
  const std::byte* const before = ring.writable().data();
  ring.consume(3);
  EXPECT_EQ(ring.writable().data(), before);
}

}  // namespace
}  // namespace udtcat::bridge
