// SPDX-License-Identifier: Apache-2.0
#include "trees/inode_set.hpp"

#include <gtest/gtest.h>

namespace udtcat::trees {
namespace {

struct stat inode(ino_t number, dev_t device = 1) {
  struct stat status {};
  status.st_ino = number;
  status.st_dev = device;
  return status;
}

TEST(InodeSets, HaveWhatWasAddedAndNothingElse) {
  InodeSet set;
  EXPECT_FALSE(set.has(inode(0), "1"));
  constexpr ino_t kMany = 100'000;
  for (ino_t number = 0; number < kMany; ++number) set.add(inode(number), "1");
  set.add(inode(5), "1");
  for (ino_t number = 0; number < kMany; ++number) ASSERT_TRUE(set.has(inode(number), "1")) << number;
  for (ino_t number = kMany; number < 2 * kMany; ++number) ASSERT_FALSE(set.has(inode(number), "1")) << number;
  EXPECT_FALSE(set.has(inode(5, 2), "1")) << "another device's";
  EXPECT_FALSE(set.has(inode(5), "2")) << "a later file's";
  EXPECT_FALSE(set.has(inode(5), ""));
}

}  // namespace
}  // namespace udtcat::trees
