// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/tree_walk.hpp"

#include <filesystem>
#include <functional>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "support/ordinary_user.hpp"
#include "trees/disk/folder.hpp"

namespace udtcat::trees {
namespace {

using testing::ElementsAre;

class TreeWalks : public testing::Test {
 protected:
  [[nodiscard]] TreeWalk walk(const std::string& begin = "") const {
    return {files::FileTree::open(folder.path()).value(), begin};
  }
  /// Paths, and "!" for each error.
  static std::vector<std::string> all_of(TreeWalk walk) {
    std::vector<std::string> paths;
    for (auto visited = walk.next(); visited; visited = walk.next()) paths.push_back(*visited ? (*visited)->path : "!");
    return paths;
  }

  Folder folder;
};

TEST_F(TreeWalks, VisitDirectoriesBeforeTheirContents) {
  std::filesystem::create_directories(folder / "b/c/d");
  folder.write("b/c/e", {});
  folder.write("a", {});
  folder.write("b-", {});
  EXPECT_THAT(all_of(walk()), ElementsAre("", "a", "b", "b/c", "b/c/d", "b/c/e", "b-"));
  EXPECT_THAT(all_of(walk("b/c")), ElementsAre("b/c", "b/c/d", "b/c/e"));
  EXPECT_THAT(all_of(walk("a")), ElementsAre("a"));
}

TEST_F(TreeWalks, FollowNoSymbolicLink) {
  std::filesystem::create_directories(folder / "in/below");
  std::filesystem::create_directory_symlink("in", folder / "link");
  std::filesystem::create_directory_symlink("..", folder / "in/up");
  auto walking = walk("link");
  EXPECT_TRUE(S_ISLNK(walking.next().value()->status.st_mode));
  EXPECT_FALSE(walking.next());
  EXPECT_THAT(all_of(walk("in")), ElementsAre("in", "in/below", "in/up"));
}

TEST_F(TreeWalks, ReportAMissingBeginning) { EXPECT_THAT(all_of(walk("none")), ElementsAre("!")); }

TEST_F(TreeWalks, SkipNamesThatVanish) {
  std::filesystem::create_directory(folder / "d");
  folder.write("a", {});
  folder.write("b", {});
  auto walking = walk();
  EXPECT_EQ(walking.next().value()->path, "");
  EXPECT_EQ(walking.next().value()->path, "a");
  std::filesystem::remove(folder / "b");
  EXPECT_EQ(walking.next().value()->path, "d");
  std::filesystem::remove(folder / "d");
  EXPECT_FALSE(walking.next().value()) << "it was there, and its names cannot be read";
  EXPECT_FALSE(walking.next());
}

TEST_F(TreeWalks, GoOnBehindADirectoryThatCannotBeRead) {
  std::filesystem::create_directory(folder / "closed");
  folder.write("f", {});
  ASSERT_EQ(::chmod((folder / "closed").c_str(), 0), 0);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  const test::OrdinaryUser user;
  EXPECT_THAT(all_of(walk()), ElementsAre("", "closed", "!", "f"));
}

TEST_F(TreeWalks, DoNotEnterDirectoriesOfParts) {
  for (const char* name : {".udtcat-parts/1", "a/.udtcat-parts-7/1"})
    std::filesystem::create_directories(folder / name);
  EXPECT_THAT(all_of(walk()), ElementsAre("", ".udtcat-parts", "a", "a/.udtcat-parts-7"));
}

TEST_F(TreeWalks, SkipADirectoryOnRequest) {
  for (const char* name : {"a/b", "c/d"}) std::filesystem::create_directories(folder / name);
  auto walking = walk();
  std::ignore = walking.next();
  EXPECT_EQ(walking.next().value()->path, "a");
  walking.pass_over();
  EXPECT_THAT(all_of(std::move(walking)), ElementsAre("c", "c/d"));
}

/// Whatever takes the place of a directory between its visit and its reading.
TEST_F(TreeWalks, ReadNoOtherDirectoryThanTheyVisited) {
  const std::string directory = folder / "d";
  const std::vector<std::function<void()>> changes{
      [&] { std::filesystem::create_directories(folder / "d/other"); },
      [&] { folder.write("d", {}); },
      [&] { std::filesystem::create_directory_symlink("/", directory); },
      [&] { ASSERT_EQ(::mkfifo(directory.c_str(), 0600), 0); },
      [] {},
  };
  for (const auto& change : changes) {
    std::filesystem::remove_all(directory);
    std::filesystem::remove_all(folder / "old");
    std::filesystem::create_directories(folder / "d/in");
    auto walking = walk("d");
    EXPECT_EQ(walking.next().value()->path, "d");
    std::filesystem::rename(directory, folder / "old");  // its inode lives on
    change();
    EXPECT_EQ(walking.next().value().error().error.code, Errc::local_read_failed);
    EXPECT_FALSE(walking.next());
  }
}

TEST_F(TreeWalks, GoDeeperThanAPathCanBeLong) {
  const std::string word(200, 'w');
  auto tree = files::FileTree::open(folder.path()).value();
  for (int level = 0; level < 30; ++level) {
    ASSERT_TRUE(tree.make_directory(word));
    tree = tree.below(word, Errc::local_read_failed).value();
  }
  const auto paths = all_of(walk());
  EXPECT_EQ(std::ranges::count(paths, "!"), 1) << "there is no name for the rest";
  EXPECT_LE(paths.size(), 31U);
}

}  // namespace
}  // namespace udtcat::trees
