// SPDX-License-Identifier: Apache-2.0
#include "trees/written_names.hpp"

#include <gtest/gtest.h>

namespace udtcat::trees {
namespace {

class WrittenNamesTest : public testing::Test {
 protected:
  static struct stat inode_of(mode_t mode, nlink_t names = 1) {
    struct stat status {};
    status.st_ino = 7;
    status.st_mode = mode;
    status.st_nlink = names;
    return status;
  }
  void add(const struct stat& status, const std::string& path, const std::string& birth = "1.5") {
    const core::MutexLock lock(written.names());
    written.add(status, birth, path);
  }
  bool has(const struct stat& status, const std::string& path, bool is_listed, const std::string& birth = "1.5") {
    const core::MutexLock lock(written.names());
    return written.has(status, birth, path, [&] { return is_listed; });
  }

  WrittenNames written{std::nullopt, std::nullopt, [](const std::string& line) { ADD_FAILURE() << line; }};
};

TEST_F(WrittenNamesTest, HaveAFileByAnotherSpellingOfItsName) {
  add(inode_of(S_IFREG), "README");
  EXPECT_TRUE(has(inode_of(S_IFREG), "readme", true)) << "a file system may list it in either";
  EXPECT_TRUE(has(inode_of(S_IFREG), "readme", false));
}

/// As where two transfers write the same names: each replaces files of the other, whose inodes are used again.
TEST_F(WrittenNamesTest, DoNotHaveAnothersFileThatHasGotTheInodeOfOneOfTheirs) {
  add(inode_of(S_IFREG), "a");
  EXPECT_FALSE(has(inode_of(S_IFREG), "b", true, "2.5"));
}

TEST_F(WrittenNamesTest, DoNotHaveAHardLinkThatStoodThere) {
  add(inode_of(S_IFREG, 2), "a");
  EXPECT_FALSE(has(inode_of(S_IFREG, 2), "b", true));
  EXPECT_TRUE(has(inode_of(S_IFREG, 2), "b", false));
  EXPECT_TRUE(has(inode_of(S_IFREG, 2), "a", true));
}

TEST_F(WrittenNamesTest, HaveADirectoryByAnyName) {
  add(inode_of(S_IFDIR), "d");
  EXPECT_TRUE(has(inode_of(S_IFDIR), "D", true));
}

}  // namespace
}  // namespace udtcat::trees
