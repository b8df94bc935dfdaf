// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/receive_buffer.hpp"

#include <algorithm>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using Outcome = ReceiveBuffer::Outcome;

constexpr std::uint64_t kFirstLimit = 512 * 1024;

class ReceiveBufferTest : public testing::Test {
 protected:
  /// Packet `index` of a stream whose packets have 1000 bytes each.
  Outcome store(PacketIndex index) {
    const auto bytes = numbered_bytes(1000, index * 1000);
    return buffer.store(index, {bytes, {}});
  }
  Outcome store_piece(PacketIndex index, std::size_t offset, std::size_t bytes, std::size_t total = 1000) {
    const auto piece = numbered_bytes(bytes, index * 1000 + offset);
    return buffer.store_fragment(index, {piece, {}}, offset, total);
  }
  std::vector<std::byte> read(std::size_t most) {
    std::vector<std::byte> into(most);
    into.resize(buffer.read(into));
    return into;
  }
  core::ChunkPool chunks{65'536};
  ReceiveBuffer buffer{4 << 20, chunks};
};

TEST_F(ReceiveBufferTest, GivesPacketsInOrderHoweverTheyCame) {
  std::vector<PacketIndex> order(200);
  for (PacketIndex i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  for (const PacketIndex index : order) EXPECT_EQ(store(index), Outcome::stored);
  EXPECT_EQ(buffer.next(), 200U);
  EXPECT_EQ(buffer.received_bytes(), 200'000U);
  EXPECT_EQ(read(70'001), numbered_bytes(70'001));
  EXPECT_EQ(read(200'000), numbered_bytes(129'999, 70'001));
  EXPECT_EQ(buffer.readable_bytes(), 0U);
  EXPECT_LE(chunks.in_use(), 2U);
}

TEST_F(ReceiveBufferTest, KnowsWhichPacketsItHas) {
  EXPECT_EQ(store(0), Outcome::stored);
  EXPECT_EQ(store(2), Outcome::stored);
  EXPECT_EQ(store(0), Outcome::duplicate);
  EXPECT_EQ(store(2), Outcome::duplicate);
  EXPECT_TRUE(buffer.has(2));
  EXPECT_FALSE(buffer.has(1));
  EXPECT_EQ(buffer.received_bytes(), 2000U);
}

TEST_F(ReceiveBufferTest, KeepsTheChunkThatAPacketCameIn) {
  auto chunk = chunks.acquire();
  std::ranges::copy(numbered_bytes(1000), chunk.bytes().begin());
  EXPECT_EQ(buffer.store(0, {chunk.bytes().first(1000), chunk}), Outcome::stored);
  chunk = {};
  EXPECT_EQ(chunks.in_use(), 1U);
  EXPECT_EQ(read(1000), numbered_bytes(1000));
  EXPECT_EQ(chunks.in_use(), 0U);
}

TEST_F(ReceiveBufferTest, HoldsLittleMoreMemoryThanPayload) {
  // Trains with one byte for this connection.
  for (PacketIndex index = 0; index < 5000; ++index) {
    const auto chunk = chunks.acquire();
    std::ranges::copy(numbered_bytes(1, index), chunk.bytes().begin());
    EXPECT_EQ(buffer.store(index, {chunk.bytes().first(1), chunk}), Outcome::stored);
  }
  EXPECT_LE(buffer.held_bytes(), kFirstLimit);
  EXPECT_LE(chunks.in_use() * chunks.chunk_bytes(), kFirstLimit);
  EXPECT_EQ(read(6000), numbered_bytes(5000));
  EXPECT_EQ(buffer.held_bytes(), 0U);
}

TEST_F(ReceiveBufferTest, HoldsLittleMoreMemoryThanPayloadBehindAGap) {
  for (PacketIndex index = 2; index < 10'000; index += 2) {
    const auto chunk = chunks.acquire();
    std::ranges::copy(numbered_bytes(1, index), chunk.bytes().begin());
    std::ignore = buffer.store(index, {chunk.bytes().first(1), chunk});
  }
  EXPECT_LE(chunks.in_use() * chunks.chunk_bytes(), kFirstLimit);
}

TEST_F(ReceiveBufferTest, HoldsNoMemoryForPacketsWithoutPayload) {
  for (PacketIndex index = 1; index < 5000; ++index)
    EXPECT_EQ(buffer.store(index, {{}, chunks.acquire()}), Outcome::stored);
  EXPECT_EQ(chunks.in_use(), 0U);
  EXPECT_EQ(store(0), Outcome::stored);
  EXPECT_EQ(buffer.next(), 5000U);
}

TEST_F(ReceiveBufferTest, CountsItsBookkeeping) {
  PacketIndex index = 0;
  const auto byte = numbered_bytes(1);
  while (index < 1'000'000 && buffer.store(index, {byte, {}}) == Outcome::stored) ++index;
  EXPECT_LE(index, kFirstLimit / 32) << "packets of a byte";
  EXPECT_GE(index, 5000U);
}

TEST_F(ReceiveBufferTest, TakesNothingBehindAGapBeyondItsLimit) {
  PacketIndex index = 1;
  while (store(index) == Outcome::stored) ++index;
  EXPECT_LE(index * 1000, kFirstLimit + 1000);
  EXPECT_EQ(store(0), Outcome::stored) << "the reader waits for it";
  EXPECT_EQ(buffer.next(), index);
}

TEST_F(ReceiveBufferTest, HasItsFullLimitForAnAuthenticatedPeer) {
  const std::uint64_t before = buffer.limit_bytes();
  buffer.trust_writer();
  EXPECT_GT(buffer.limit_bytes(), before);
  PacketIndex index = 0;
  while (index < 10'000 && store(index) == Outcome::stored) ++index;
  EXPECT_GT(buffer.readable_bytes(), kFirstLimit);
  EXPECT_LE(buffer.readable_bytes(), buffer.limit_bytes());
}

TEST_F(ReceiveBufferTest, TakesNothingInOrderBeyondItsLimitWhileNobodyReads) {
  PacketIndex index = 0;
  while (index < 10'000 && store(index) == Outcome::stored) ++index;
  EXPECT_LE(buffer.readable_bytes(), kFirstLimit);
  EXPECT_EQ(read(1000).size(), 1000U);
  EXPECT_EQ(store(index), Outcome::stored);
}

TEST_F(ReceiveBufferTest, GrowsWithItsReader) {
  PacketIndex index = 0;
  for (; buffer.limit_bytes() < 4U << 20; ++index) {
    ASSERT_EQ(store(index), Outcome::stored);
    ASSERT_EQ(read(1000).size(), 1000U);
  }
  EXPECT_LT(index, 1000U);
  EXPECT_GT(buffer.free_bytes(), 4'000'000U);
}

TEST_F(ReceiveBufferTest, ReassemblesFragmentsInAnyOrder) {
  EXPECT_EQ(store_piece(0, 600, 400), Outcome::stored);
  EXPECT_EQ(store_piece(0, 300, 200), Outcome::stored);
  EXPECT_EQ(store_piece(0, 0, 350), Outcome::stored) << "they may overlap";
  EXPECT_FALSE(buffer.has(0));
  EXPECT_EQ(store_piece(0, 500, 100), Outcome::stored);
  EXPECT_TRUE(buffer.has(0));
  EXPECT_EQ(read(2000), numbered_bytes(1000));
  EXPECT_EQ(store_piece(0, 0, 350), Outcome::duplicate);
}

TEST_F(ReceiveBufferTest, PrefersAWholePacketToItsFragments) {
  EXPECT_EQ(store_piece(0, 0, 600), Outcome::stored);
  EXPECT_EQ(store(0), Outcome::stored);
  EXPECT_EQ(store_piece(0, 600, 400), Outcome::duplicate);
  EXPECT_EQ(read(2000), numbered_bytes(1000));
}

TEST_F(ReceiveBufferTest, RefusesAnInvalidFragment) {
  EXPECT_EQ(store_piece(0, 600, 401), Outcome::no_room) << "beyond its packet";
  EXPECT_EQ(store_piece(0, 65'535, 0, 0), Outcome::no_room);
  EXPECT_EQ(store_piece(0, 0, 600), Outcome::stored);
  EXPECT_EQ(store_piece(0, 600, 401, 1001), Outcome::no_room) << "of another size";
  EXPECT_EQ(store_piece(0, 600, 400), Outcome::stored);
  EXPECT_EQ(read(2000), numbered_bytes(1000));
}

TEST_F(ReceiveBufferTest, HoldsNoMoreFragmentsThanItsLimit) {
  PacketIndex index = 0;
  while (index < 256 && store_piece(index, 0, 1, 60'000) == Outcome::stored) ++index;
  EXPECT_LE(index * 60'000, kFirstLimit);
  EXPECT_EQ(store(0), Outcome::stored) << "and give way";
}

TEST_F(ReceiveBufferTest, RefusesMoreFragmentsOfAPacketThanAPathCanMake) {
  int taken = 0;
  for (std::size_t offset = 0; offset < 60'000; offset += 2)
    taken += store_piece(0, offset, 1, 60'000) == Outcome::stored ? 1 : 0;
  EXPECT_LE(taken, 64);
}

}  // namespace
}  // namespace udtcat::transport::native
