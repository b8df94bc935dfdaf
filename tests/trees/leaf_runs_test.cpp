// SPDX-License-Identifier: Apache-2.0
#include "trees/leaf_runs.hpp"

#include <gtest/gtest.h>

namespace udtcat::trees {
namespace {

files::Digest leaf_digest(unsigned char fill) {
  files::Digest made{};
  made.fill(std::byte{fill});
  return made;
}

TEST(LeafRuns, GiveEachLeafInAnyOrderAndHowManyMoreAreLikeIt) {
  LeafRuns runs;
  const std::vector<unsigned char> leaves{1, 1, 2, 3, 3, 3, 1};
  const std::vector<std::uint64_t> alike{2, 1, 1, 3, 2, 1, 1};
  for (const unsigned char each : leaves) runs.add(leaf_digest(each));
  EXPECT_EQ(runs.leaves(), leaves.size());
  for (std::size_t i = leaves.size(); i-- > 0;) {
    EXPECT_EQ(runs.run_at(i).digest, leaf_digest(leaves[i])) << i;
    EXPECT_EQ(runs.run_at(i).leaves, alike[i]) << i;
  }
}

TEST(LeafRuns, JoinRunsThatFollowEachOther) {
  LeafRuns runs;
  runs.add(leaf_digest(1), 5);
  runs.add(leaf_digest(1), 1'000'000'000'000);
  runs.add(leaf_digest(2));
  EXPECT_EQ(runs.leaves(), 1'000'000'000'006U);
  EXPECT_EQ(runs.run_at(4).leaves, 1'000'000'000'001U);
  EXPECT_EQ(runs.run_at(1'000'000'000'005).digest, leaf_digest(2));
}

}  // namespace
}  // namespace udtcat::trees
