// SPDX-License-Identifier: Apache-2.0
/// ChunkHashes of basis_file.
#include "trees/basis_file.hpp"

#include <gtest/gtest.h>

namespace udtcat::trees {
namespace {

files::Digest chunk_digest(unsigned char fill) {
  files::Digest made{};
  made.fill(std::byte{fill});
  return made;
}

TEST(ChunkHashes, GiveTheHashAndTheRunOfEachChunk) {
  ChunkHashes runs;
  const std::vector<unsigned char> chunks{1, 1, 2, 3, 3, 3, 1};
  const std::vector<std::uint64_t> alike{2, 1, 1, 3, 2, 1, 1};
  for (const unsigned char each : chunks) runs.add(chunk_digest(each));
  EXPECT_EQ(runs.chunks(), chunks.size());
  for (std::size_t i = chunks.size(); i-- > 0;) {
    EXPECT_EQ(runs.run_at(i).digest, chunk_digest(chunks[i])) << i;
    EXPECT_EQ(runs.run_at(i).chunks, alike[i]) << i;
  }
}

TEST(ChunkHashes, JoinRunsThatFollowEachOther) {
  ChunkHashes runs;
  runs.add(chunk_digest(1), 5);
  runs.add(chunk_digest(1), 1'000'000'000'000);
  runs.add(chunk_digest(2));
  EXPECT_EQ(runs.chunks(), 1'000'000'000'006U);
  EXPECT_EQ(runs.run_at(4).chunks, 1'000'000'000'001U);
  EXPECT_EQ(runs.run_at(1'000'000'000'005).digest, chunk_digest(2));
}

}  // namespace
}  // namespace udtcat::trees
