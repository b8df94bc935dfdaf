// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/send_queue.hpp"

#include <memory>
#include <random>

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

std::vector<std::byte> gathered(const SendQueue& queue, std::uint64_t offset, std::size_t bytes) {
  std::vector<std::span<const std::byte>> pieces;
  queue.gather(offset, bytes, pieces);
  std::vector<std::byte> all;
  for (const auto piece : pieces) all.insert(all.end(), piece.begin(), piece.end());
  return all;
}

TEST(SendQueue, GivesBackAnyPartOfTheStream) {
  SendQueue queue;
  std::mt19937 random(1);
  while (queue.end_offset() < 20'000)
    queue.push(core::SharedBytes::adopt(numbered_bytes(random() % 300, queue.end_offset())));
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t offset = random() % 19'000;
    const std::size_t bytes = 1 + random() % 1000;
    ASSERT_EQ(gathered(queue, offset, bytes), numbered_bytes(bytes, offset)) << offset;
  }
}

TEST(SendQueue, LimitsThePiecesOfAPacket) {
  SendQueue queue;
  for (int i = 0; i < 5; ++i) queue.push(core::SharedBytes::adopt(numbered_bytes(10)));
  EXPECT_EQ(queue.contiguous(0, 100, 3), 30U);
  EXPECT_EQ(queue.contiguous(5, 100, 3), 25U);
  EXPECT_EQ(queue.contiguous(5, 7, 3), 7U);
  EXPECT_EQ(queue.contiguous(45, 100, 3), 5U);
  EXPECT_EQ(queue.contiguous(50, 100, 3), 0U);
}

TEST(SendQueue, FreesAcknowledgedPieces) {
  SendQueue queue;
  const auto owner = std::make_shared<std::vector<std::byte>>(numbered_bytes(100));
  queue.push({*owner, owner});
  queue.push(core::SharedBytes::adopt(numbered_bytes(100, 100)));
  queue.release_before(99);
  EXPECT_EQ(owner.use_count(), 2);
  EXPECT_EQ(gathered(queue, 99, 10), numbered_bytes(10, 99));
  queue.release_before(100);
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_EQ(gathered(queue, 100, 10), numbered_bytes(10, 100));
  queue.release_before(200);
  EXPECT_EQ(queue.contiguous(200, 10, 10), 0U);
}

TEST(SendQueue, IgnoresAnEmptyPiece) {
  SendQueue queue;
  queue.push({});
  EXPECT_EQ(queue.end_offset(), 0U);
  EXPECT_EQ(queue.contiguous(0, 10, 10), 0U);
}

}  // namespace
}  // namespace udtcat::transport::native
