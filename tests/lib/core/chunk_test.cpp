// SPDX-License-Identifier: Apache-2.0
#include "lib/core/chunk.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace udtcat::core {
namespace {

constexpr std::size_t kChunkBytes = 1000;

TEST(ChunkPool, HandsOutAlignedMemoryOfOneSize) {
  ChunkPool pool(kChunkBytes);
  const auto first = pool.acquire();
  const auto second = pool.acquire();
  for (const auto& chunk : {first, second}) {
    ASSERT_EQ(chunk.bytes().size(), kChunkBytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(chunk.bytes().data()) % 64, 0U);
  }
  EXPECT_NE(first.bytes().data(), second.bytes().data());
  EXPECT_EQ(pool.chunk_bytes(), kChunkBytes);
  EXPECT_EQ(pool.in_use(), 2U);
}

TEST(ChunkPool, GivesAChunkAgainWhenNobodyHoldsIt) {
  ChunkPool pool(kChunkBytes);
  auto first = pool.acquire();
  const auto* const memory = first.bytes().data();
  const auto copy = first;
  first = {};
  EXPECT_NE(pool.acquire().bytes().data(), memory) << "the copy still reads it";
  EXPECT_EQ(pool.in_use(), 1U);
}

TEST(ChunkPool, ReusesTheOneThatWasReturnedLast) {
  ChunkPool pool(kChunkBytes);
  const auto* const memory = pool.acquire().bytes().data();
  EXPECT_EQ(pool.in_use(), 0U);
  EXPECT_EQ(pool.acquire().bytes().data(), memory) << "it is the one that the caches know";
}

TEST(ChunkPool, CountsWhatIsOutPastWhatItKeeps) {
  ChunkPool pool(kChunkBytes);
  for (int round = 0; round < 2; ++round) {
    std::vector<ChunkRef> held(200);
    for (auto& chunk : held) chunk = pool.acquire();
    EXPECT_EQ(pool.in_use(), held.size());
    EXPECT_TRUE(std::none_of(held.begin(), held.end(), [](const auto& chunk) { return chunk.empty(); }));
    held.clear();
    EXPECT_EQ(pool.in_use(), 0U);
  }
}

TEST(ChunkRef, KeepsTheChunkUntilTheLastCopyIsGone) {
  ChunkPool pool(kChunkBytes);
  auto chunk = pool.acquire();
  {
    const auto copy = chunk;
    EXPECT_EQ(copy.bytes().data(), chunk.bytes().data());
    chunk = {};
    EXPECT_EQ(pool.in_use(), 1U);
  }
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST(ChunkRef, IsEmptyAfterAMove) {
  ChunkPool pool(kChunkBytes);
  auto chunk = pool.acquire();
  auto moved = std::move(chunk);
  EXPECT_TRUE(chunk.empty());
  auto& same = moved;
  moved = same;
  EXPECT_FALSE(moved.empty());
  moved = {};
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST(ChunkRef, HoldsNothingByDefault) {
  const ChunkRef nothing;
  const ChunkRef copy = nothing;
  EXPECT_TRUE(copy.empty());
  EXPECT_TRUE(copy.bytes().empty());
}

TEST(ChunkRef, OutlivesThePool) {
  auto pool = std::make_optional<ChunkPool>(kChunkBytes);
  const auto first = pool->acquire();
  auto second = pool->acquire();
  std::ignore = pool->acquire();  // comes home, and goes with the pool
  pool.reset();
  std::fill(first.bytes().begin(), first.bytes().end(), std::byte{7});
  second = {};
  EXPECT_EQ(first.bytes()[kChunkBytes - 1], std::byte{7});
}

TEST(ChunkPool, GivesNothingWhereThereIsNoMemory) {
#if UDTCAT_SANITIZED
  GTEST_SKIP() << "sanitizers abort at an allocation that cannot be, even at one that may fail";
#endif
  ChunkPool pool(std::numeric_limits<std::size_t>::max() / 4);
  EXPECT_TRUE(pool.acquire().empty());
  EXPECT_EQ(pool.in_use(), 0U);
}

}  // namespace
}  // namespace udtcat::core
