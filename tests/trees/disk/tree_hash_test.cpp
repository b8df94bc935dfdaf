// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/tree_hash.hpp"

#include <algorithm>
#include <bit>
#include <thread>

#include <gtest/gtest.h>

#include "support/bytes.hpp"
#include "support/spec_example.hpp"

namespace udtcat::trees {
namespace {

using test::Bytes;

files::Digest node_of(const files::Digest& left, const files::Digest& right) {
  Bytes bytes{std::byte{1}};
  bytes.insert(bytes.end(), left.begin(), left.end());
  bytes.insert(bytes.end(), right.begin(), right.end());
  return files::digest_of({bytes});
}

/// As RFC 9162 §2.1.1 writes it down.
files::Digest naive_root(std::span<const files::Digest> leaves) {
  if (leaves.empty()) return files::digest_of({});
  if (leaves.size() == 1) return leaves.front();
  const std::size_t left = std::bit_floor(leaves.size() - 1);
  return node_of(naive_root(leaves.first(left)), naive_root(leaves.subspan(left)));
}

std::vector<files::Digest> different_chunks(std::size_t count) {
  std::vector<files::Digest> leaves;
  for (std::size_t i = 0; i < count; ++i) leaves.push_back(hash_of_leaf(test::random_bytes(10, i)));
  return leaves;
}

TEST(TreeHash, OfNothingMatchesTheSpecification) {
  const auto empty = test::array_of<32>(test::SpecExample("trees.md", "tree").bytes("empty"));
  EXPECT_EQ(TreeHash().root(), empty);
  EXPECT_EQ(files::digest_of({}), empty);
  EXPECT_EQ(files::to_hex(empty), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(TreeHash, OfALeafBeginsWithItsPrefix) {
  EXPECT_EQ(hash_of_leaf({}), files::digest_of({Bytes{std::byte{0}}}));
  EXPECT_EQ(hash_of_leaf(test::bytes_of("abc")), files::digest_of({test::from_hex("00616263")}));
  EXPECT_EQ(hash_of_zeros(), hash_of_leaf(Bytes(kChunkBytes)));
}

TEST(TreeHash, IsThatOfTheRfcForEachNumberOfLeaves) {
  const auto leaves = different_chunks(70);
  TreeHash tree;
  for (std::size_t count = 0;; ++count) {
    EXPECT_EQ(tree.root(), naive_root(std::span(leaves).first(count))) << count;
    if (count == leaves.size()) break;
    tree.add(leaves[count]);
  }
}

TEST(TreeHash, HashesARunAsItsLeaves) {
  const auto kinds = different_chunks(3);
  for (std::size_t first = 0; first <= 20; ++first) {
    for (std::size_t second = 0; second <= 70 - first; ++second) {
      std::vector<files::Digest> leaves(first, kinds[0]);
      leaves.insert(leaves.end(), second, kinds[1]);
      leaves.push_back(kinds[2]);
      TreeHash tree;
      tree.add(kinds[0], first);
      tree.add(kinds[1], second);
      tree.add(kinds[2]);
      EXPECT_EQ(tree.root(), naive_root(leaves)) << first << ' ' << second;
    }
  }
}

TEST(TreeHash, TakesARunOfAnyLengthAtOnce) {
  const files::Digest leaf = different_chunks(1).front();
  constexpr int kHeight = 62;
  files::Digest perfect = leaf;
  for (int height = 0; height < kHeight; ++height) perfect = node_of(perfect, perfect);
  TreeHash tree;
  tree.add(leaf, (std::uint64_t{1} << kHeight) - 5);
  tree.add(leaf, 5);
  EXPECT_EQ(tree.root(), perfect);
  tree.add(leaf);
  EXPECT_EQ(tree.root(), node_of(perfect, leaf));
}

TEST(TreeHash, CountsLeavesOfAFile) {
  EXPECT_EQ(chunks_of(0), 0U);
  EXPECT_EQ(chunks_of(1), 1U);
  EXPECT_EQ(chunks_of(kChunkBytes), 1U);
  EXPECT_EQ(chunks_of(kChunkBytes + 1), 2U);
  EXPECT_EQ(chunks_of(UINT64_MAX), std::uint64_t{1} << 44U);
}

TEST(TreeHash, OfManyThreadsAtOnceIsTheirOwn) {
  const auto bytes = test::random_bytes(100'000);
  const files::Digest expected = hash_of_leaf(bytes);
  std::array<files::Digest, 4> found{};
  std::vector<std::thread> threads;
  for (files::Digest& mine : found)
    threads.emplace_back([&bytes, &mine] {
      for (int i = 0; i < 20; ++i) mine = hash_of_leaf(bytes);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(std::ranges::all_of(found, [&](const files::Digest& digest) { return digest == expected; }));
}

}  // namespace
}  // namespace udtcat::trees
