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

TEST(LeafRuns, GiveEachLeafInAnyOrder) {
  LeafRuns runs;
  EXPECT_FALSE(runs.at(0));
  const std::vector<unsigned char> leaves{1, 1, 2, 3, 3, 3, 1};
  for (const unsigned char each : leaves) runs.add(leaf_digest(each));
  EXPECT_EQ(runs.leaves(), leaves.size());
  for (int time = 0; time < 2; ++time)
    for (std::size_t i = 0; i < leaves.size(); ++i) EXPECT_EQ(runs.at(i), leaf_digest(leaves[i])) << i;
  for (std::size_t i = leaves.size(); i-- > 0;) EXPECT_EQ(runs.at(i), leaf_digest(leaves[i])) << i;
  EXPECT_FALSE(runs.at(leaves.size()));
  EXPECT_FALSE(runs.at(~std::uint64_t{0}));
}

}  // namespace
}  // namespace udtcat::trees
