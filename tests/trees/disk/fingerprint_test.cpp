// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/fingerprint.hpp"

#include <sys/stat.h>

#include "files/file_tree.hpp"
#include "trees/disk/folder.hpp"

namespace udtcat::trees {
namespace {

class FileFingerprints : public testing::Test {
 protected:
  void SetUp() override {
    folder.write("a", {});
    if (!fingerprint_of(status("a", 10))) GTEST_SKIP() << "needs a file system that tells of each change";
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
  [[nodiscard]] std::optional<Fingerprint> fingerprint_of(const struct stat& as_of) const {
    return trees::fingerprint_of(at("a"), as_of);
  }

  Folder folder;
};

TEST_F(FileFingerprints, AreAbsentFromAFileThatHasJustChanged) {
  EXPECT_FALSE(fingerprint_of(status("a", -1'000)));
  EXPECT_TRUE(fingerprint_of(status("a", 1)));
  const auto old = status("a", 10);
  EXPECT_EQ(fingerprint_of(old), fingerprint_of(old));
}

TEST_F(FileFingerprints, TakeTwoSecondsWhereTimesAreWholeSeconds) {
  struct stat by_seconds = status("a");
  by_seconds.st_ctim = {by_seconds.st_ctim.tv_sec, 0};
  by_seconds.st_mtim = by_seconds.st_ctim;
  EXPECT_FALSE(fingerprint_of(by_seconds));
  by_seconds.st_ctim.tv_sec -= 10;
  EXPECT_TRUE(fingerprint_of(by_seconds));
}

TEST_F(FileFingerprints, DifferAfterAnyChange) {
  const auto old = status("a", 10);
  const auto fingerprint = fingerprint_of(old);
  const auto differs = [&](auto change) {
    struct stat other = old;
    change(other);
    EXPECT_EQ(is_same_state(old, other), fingerprint_of(other) == fingerprint);
    return fingerprint_of(other) != fingerprint;
  };
  EXPECT_TRUE(differs([](auto& other) { other.st_ino ^= 1U; }));
  EXPECT_TRUE(differs([](auto& other) { other.st_dev ^= 1U; }));
  EXPECT_TRUE(differs([](auto& other) { other.st_size += 1; }));
  EXPECT_TRUE(differs([](auto& other) { other.st_mtim.tv_nsec ^= 1; }));
  EXPECT_TRUE(differs([](auto& other) { other.st_ctim.tv_nsec ^= 1; }));
  EXPECT_FALSE(differs([](auto& other) { other.st_atim.tv_sec += 1; })) << "reading changes nothing";
}

TEST_F(FileFingerprints, AreAbsentWhereAFileSystemMayHideChanges) {
  const auto location = files::FileTree::open("/proc").value().locate("version", Errc::local_read_failed).value();
  struct stat old = location.look().value().value();
  old.st_ctim.tv_sec -= 1'000;
  EXPECT_FALSE(trees::fingerprint_of(location, old));
  EXPECT_FALSE(trees::fingerprint_of(files::FileLocation(folder / "a"), status("a", 10))) << "in no opened directory";
}

}  // namespace
}  // namespace udtcat::trees
