// SPDX-License-Identifier: Apache-2.0
#include "lib/core/buffer.hpp"

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace udtcat::core {
namespace {

TEST(BufferPool, HandsOutAlignedBuffersOfItsSize) {
  BufferPool pool(1000, 2);
  EXPECT_EQ(pool.buffer_bytes(), 1000U);
  const auto first = pool.acquire();
  const auto second = pool.acquire();
  for (const auto* buffer : {&first, &second}) {
    ASSERT_TRUE(*buffer);
    EXPECT_EQ((*buffer)->bytes().size(), 1000U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>((*buffer)->bytes().data()) % 64, 0U);
  }
  EXPECT_NE(first->bytes().data(), second->bytes().data());
}

TEST(BufferPool, GivesNoneWhenAllAreOut) {
  BufferPool pool(64, 2);
  auto first = pool.acquire();
  const auto second = pool.acquire();
  EXPECT_FALSE(pool.acquire());
  EXPECT_EQ(pool.in_use(), 2U);
  first.reset();
  EXPECT_EQ(pool.in_use(), 1U);
  EXPECT_TRUE(pool.acquire());
}

TEST(BufferPool, UsesReturnedMemoryAgain) {
  BufferPool pool(64, 4);
  const std::byte* before = pool.acquire()->bytes().data();
  EXPECT_EQ(pool.acquire()->bytes().data(), before);
}

TEST(BufferPool, TakesBackMoreThanItKeeps) {
  BufferPool pool(64, 100);
  std::vector<Buffer> out;
  for (int round = 0; round < 3; ++round) {
    for (auto buffer = pool.acquire(); buffer; buffer = pool.acquire()) out.push_back(std::move(*buffer));
    EXPECT_EQ(out.size(), 100U);
    out.clear();
    EXPECT_EQ(pool.in_use(), 0U);
  }
}

TEST(Buffer, OutlivesItsPool) {
  std::optional<Buffer> buffer;
  {
    BufferPool pool(64, 1);
    buffer = pool.acquire();
  }
  std::memset(buffer->bytes().data(), 1, buffer->bytes().size());
}

TEST(Buffer, MovesAndLeavesNothingBehind) {
  BufferPool pool(64, 2);
  Buffer from = *pool.acquire();
  Buffer to = *pool.acquire();
  const std::byte* memory = from.bytes().data();
  to = std::move(from);
  EXPECT_TRUE(from.empty());  // NOLINT: what a moved-from buffer is, is part of the contract
  EXPECT_EQ(to.bytes().data(), memory);
  EXPECT_EQ(pool.in_use(), 1U);
}

TEST(Buffer, IsEmptyWithoutAPool) {
  const Buffer none;
  EXPECT_TRUE(none.empty());
  EXPECT_TRUE(none.bytes().empty());
}

TEST(BufferPool, IsSharedByThreads) {
  BufferPool pool(64, 3);
  const auto churn = [&] {
    for (int i = 0; i < 2000; ++i)
      if (auto buffer = pool.acquire()) buffer->bytes()[0] = std::byte{1};
  };
  std::thread other(churn);
  churn();
  other.join();
  EXPECT_EQ(pool.in_use(), 0U);
}

}  // namespace
}  // namespace udtcat::core
