// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/stamp.hpp"

#include <sys/stat.h>

#include "files/file_tree.hpp"
#include "trees/disk/folder.hpp"

namespace udtcat::trees {
namespace {

class FileStamps : public testing::Test {
 protected:
  void SetUp() override {
    folder.write("a", {});
    if (!stamp_of(status("a", 10))) GTEST_SKIP() << "needs a file system that tells of each change";
  }
  [[nodiscard]] files::FileLocation at(const std::string& name) const {
    return files::FileTree::open(folder.path()).value().locate(name, Errc::local_read_failed).value();
  }
  [[nodiscard]] struct stat status(const std::string& name) const { return at(name).look().value().value(); }
  /// As if it had changed so many seconds ago.
  [[nodiscard]] struct stat status(const std::string& name, time_t ago) const {
    struct stat old = status(name);
    old.st_ctim.tv_sec -= ago;
    return old;
  }
  [[nodiscard]] std::optional<Stamp> stamp_of(const struct stat& as_of) const {
    return trees::stamp_of(at("a"), as_of);
  }

  Folder folder;
};

TEST_F(FileStamps, AreNoneOfAFileThatHasJustChanged) {
  EXPECT_FALSE(stamp_of(status("a", -1'000)));
  EXPECT_TRUE(stamp_of(status("a", 1)));
  const auto old = status("a", 10);
  EXPECT_EQ(stamp_of(old), stamp_of(old));
}

TEST_F(FileStamps, OfAFileSystemThatCountsSecondsNeedTwoOfThem) {
  struct stat by_seconds = status("a");
  by_seconds.st_ctim = {by_seconds.st_ctim.tv_sec, 0};
  by_seconds.st_mtim = by_seconds.st_ctim;
  EXPECT_FALSE(stamp_of(by_seconds));
  by_seconds.st_ctim.tv_sec -= 10;
  EXPECT_TRUE(stamp_of(by_seconds));
}

TEST_F(FileStamps, DifferWithAllThatTellsAChange) {
  const auto old = status("a", 10);
  const auto stamp = stamp_of(old);
  const auto differs = [&](auto change) {
    struct stat other = old;
    change(other);
    EXPECT_EQ(is_same_state(old, other), stamp_of(other) == stamp);
    return stamp_of(other) != stamp;
  };
  EXPECT_TRUE(differs([](auto& other) { other.st_ino ^= 1U; }));
  EXPECT_TRUE(differs([](auto& other) { other.st_dev ^= 1U; }));
  EXPECT_TRUE(differs([](auto& other) { other.st_size += 1; }));
  EXPECT_TRUE(differs([](auto& other) { other.st_mtim.tv_nsec ^= 1; }));
  EXPECT_TRUE(differs([](auto& other) { other.st_ctim.tv_nsec ^= 1; }));
  EXPECT_FALSE(differs([](auto& other) { other.st_atim.tv_sec += 1; })) << "reading changes nothing";
}

TEST_F(FileStamps, AreNoneWhereNobodyKnowsThatChangesAreTold) {
  const auto location = files::FileTree::open("/proc").value().locate("version", Errc::local_read_failed).value();
  struct stat old = location.look().value().value();
  old.st_ctim.tv_sec -= 1'000;
  EXPECT_FALSE(trees::stamp_of(location, old));
  EXPECT_FALSE(trees::stamp_of(files::FileLocation(folder / "a"), status("a", 10))) << "in no opened directory";
}

}  // namespace
}  // namespace udtcat::trees
