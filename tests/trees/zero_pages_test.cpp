// SPDX-License-Identifier: Apache-2.0
/// extents_of() of file_contents.
#include "trees/file_contents.hpp"

#include <gtest/gtest.h>

namespace udtcat::trees {
namespace {

/// Offsets and lengths.
using Pieces = std::vector<std::pair<std::size_t, std::size_t>>;

std::vector<std::byte> zeros_but(std::size_t bytes, const std::vector<std::size_t>& ones) {
  std::vector<std::byte> chunk(bytes);
  for (const std::size_t at : ones) chunk[at] = std::byte{1};
  return chunk;
}
Pieces pieces_of(std::size_t bytes, const std::vector<std::size_t>& ones) {
  const auto chunk = zeros_but(bytes, ones);
  Pieces pieces;
  for (const Extent& extent : extents_of(chunk)) {
    EXPECT_EQ(extent.bytes.data(), chunk.data() + extent.offset);
    pieces.emplace_back(extent.offset, extent.bytes.size());
  }
  return pieces;
}

TEST(ZeroPages, AreFoundToTheLastByte) {
  EXPECT_TRUE(is_zero({}));
  EXPECT_TRUE(is_zero(zeros_but(1, {})));
  for (const std::size_t at : {0U, 1U, 4'095U}) EXPECT_FALSE(is_zero(zeros_but(kPageBytes, {at}))) << at;
}

TEST(ZeroPages, AreLeftOut) {
  constexpr std::size_t kPage = kPageBytes;
  EXPECT_EQ(pieces_of(0, {}), (Pieces{}));
  EXPECT_EQ(pieces_of(3 * kPage, {}), (Pieces{}));
  EXPECT_EQ(pieces_of(3 * kPage, {kPage}), (Pieces{{kPage, kPage}}));
  EXPECT_EQ(pieces_of(3 * kPage, {0, 2 * kPage}), (Pieces{{0, kPage}, {2 * kPage, kPage}}));
  EXPECT_EQ(pieces_of(3 * kPage, {0, kPage, 2 * kPage}), (Pieces{{0, 3 * kPage}}));
  EXPECT_EQ(pieces_of(5, {3}), (Pieces{{0, 5}}));
  EXPECT_EQ(pieces_of(2 * kPage + 5, {2 * kPage + 4}), (Pieces{{2 * kPage, 5}}));
  EXPECT_EQ(pieces_of(2 * kPage + 5, {0}), (Pieces{{0, kPage}}));
  EXPECT_EQ(pieces_of(kPage + 1, {kPage - 1, kPage}), (Pieces{{0, kPage + 1}}));
}

}  // namespace
}  // namespace udtcat::trees
