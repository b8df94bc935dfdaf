// SPDX-License-Identifier: Apache-2.0
#include "trees/top_directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "files/folder.hpp"

namespace udtcat::trees {
namespace {

class TopDirectories : public testing::Test {
 protected:
  void set_mode(mode_t mode) const { ASSERT_EQ(::chmod(folder.path().c_str(), mode), 0); }
  [[nodiscard]] mode_t mode() const {
    struct stat status {};
    EXPECT_EQ(::stat(folder.path().c_str(), &status), 0);
    return status.st_mode & 07777U;
  }
  [[nodiscard]] files::FileTree tree() const { return files::FileTree::open(folder.path()).value(); }

  files::Folder folder;
};

TEST_F(TopDirectories, RestoreTheirReadOnlyMode) {
  const bool is_root = ::geteuid() == 0;  // who may write anywhere
  ASSERT_TRUE(!is_root || ::seteuid(12'345) == 0);
  const std::string path = "/tmp/udtcat-top-" + std::to_string(::getpid());
  ASSERT_EQ(::mkdir(path.c_str(), 0555), 0);
  struct stat status {};
  {
    const auto top = TopDirectory::open(files::FileTree::open(path).value()).value();
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0755U);
  }
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0555U);
  ::rmdir(path.c_str());
  ASSERT_TRUE(!is_root || ::seteuid(0) == 0);
}

TEST_F(TopDirectories, KeepTheModeOfAHome) {
  set_mode(0750);
  const auto top = TopDirectory::open(tree()).value();
  EXPECT_EQ(top.own_mode(folder.path()), 0750U);
  EXPECT_EQ(top.own_mode("/nowhere"), std::nullopt) << "a sender's counts";
  EXPECT_EQ(top.own_mode(std::nullopt), std::nullopt);
}

TEST_F(TopDirectories, KeepTheModeOfTheRootDirectory) {
  const auto root = files::FileTree::open("/").value();
  EXPECT_TRUE(TopDirectory::open(root).value().own_mode(std::nullopt));
}

}  // namespace
}  // namespace udtcat::trees
