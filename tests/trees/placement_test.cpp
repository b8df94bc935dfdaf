// SPDX-License-Identifier: Apache-2.0
#include "trees/placement.hpp"

#include <gtest/gtest.h>

namespace udtcat::trees {
namespace {

class Placements : public testing::Test {
 protected:
  static struct stat status_of(mode_t mode, nlink_t names = 1) {
    struct stat status {};
    status.st_ino = 7;
    status.st_mode = mode;
    status.st_nlink = names;
    return status;
  }
  void add(const struct stat& status, const std::string& path) {
    const core::MutexLock lock(placement.names());
    placement.add(status, path);
  }
  bool has(const struct stat& status, const std::string& path, std::optional<bool> is_listed) {
    const core::MutexLock lock(placement.names());
    return placement.has(status, path, [&] { return is_listed; });
  }

  Placement placement{std::nullopt, [](const std::string& line) { ADD_FAILURE() << line; }};
};

TEST_F(Placements, HaveAFileByANameThatItsDirectoryDoesNotList) {
  add(status_of(S_IFREG), "README");
  EXPECT_TRUE(has(status_of(S_IFREG), "readme", false));
  EXPECT_TRUE(has(status_of(S_IFREG), "readme", std::nullopt)) << "a directory that cannot be listed";
}

/// As where two transfers write the same names: each replaces files of the other, whose inodes are used again.
TEST_F(Placements, DoNotHaveAnothersFileThatHasGotTheInodeOfOneOfTheirs) {
  add(status_of(S_IFREG), "a");
  EXPECT_FALSE(has(status_of(S_IFREG), "b", true));
}

TEST_F(Placements, HaveADirectoryByAnyName) {
  add(status_of(S_IFDIR), "d");
  EXPECT_TRUE(has(status_of(S_IFDIR), "D", true));
}

TEST_F(Placements, DoNotHaveAHardLinkThatStoodThere) {
  add(status_of(S_IFREG, 2), "a");
  EXPECT_FALSE(has(status_of(S_IFREG, 2), "b", true));
  EXPECT_FALSE(has(status_of(S_IFREG, 2), "b", std::nullopt)) << "a directory that cannot be listed";
  EXPECT_TRUE(has(status_of(S_IFREG, 2), "a", true));
}

}  // namespace
}  // namespace udtcat::trees
