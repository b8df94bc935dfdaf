// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/file_system_traits.hpp"

#include <filesystem>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trees/disk/attributes.hpp"
#include "trees/disk/folder.hpp"

namespace udtcat::trees {
namespace {

bridge::Descriptor opened(const std::string& directory, int flags = O_RDONLY) {
  return bridge::Descriptor(::open(directory.c_str(), flags | O_DIRECTORY | O_CLOEXEC));
}

TEST(FileTraits, OfThisDiskAreThoseOfPosix) {
  const Folder folder;
  const FileSystemTraits traits = traits_of(opened(folder.path()));
  EXPECT_EQ(traits.time_unit, std::chrono::nanoseconds(1));
  EXPECT_TRUE(traits.keeps_modes);
  EXPECT_FALSE(traits.folds_names);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "nothing stays behind";
}

TEST(FileTraits, AreThoseOfPosixWhereNothingCanBeTried) {
  const Folder folder;
  std::filesystem::create_directory(folder / "gone");
  const auto directory = opened(folder / "gone");
  std::filesystem::remove(folder / "gone");
  EXPECT_EQ(traits_of(directory).time_unit, std::chrono::nanoseconds(1));
}

TEST(FileTraits, OfAnOverlayTellThatSyncfsHearsOfNoError) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may mount";
  const Folder folder;
  EXPECT_TRUE(traits_of(opened(folder.path())).obeys_syncfs);
  std::thread([&] {
    ASSERT_EQ(::unshare(CLONE_NEWNS), 0);
    ASSERT_EQ(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
    ASSERT_EQ(::mount("none", folder.path().c_str(), "tmpfs", 0, nullptr), 0);
    for (const char* name : {"lower", "upper", "work", "all"}) std::filesystem::create_directory(folder / name);
    const std::string layers =
        "lowerdir=" + folder / "lower" + ",upperdir=" + folder / "upper" + ",workdir=" + folder / "work";
    ASSERT_EQ(::mount("none", (folder / "all").c_str(), "overlay", 0, layers.c_str()), 0);
    EXPECT_FALSE(traits_of(opened(folder / "all")).obeys_syncfs);
  }).join();
}

TEST(FileTimes, AreCutAsFileSystemsDo) {
  const FileTime time{1'000'000'001, 123'456'789};
  EXPECT_EQ(cut_to(time, std::chrono::nanoseconds(1)), time);
  EXPECT_EQ(cut_to(time, std::chrono::nanoseconds(100)), (FileTime{1'000'000'001, 123'456'700}));
  EXPECT_EQ(cut_to(time, std::chrono::seconds(1)), (FileTime{1'000'000'001, 0}));
  EXPECT_EQ(cut_to(time, std::chrono::seconds(2)), (FileTime{1'000'000'000, 0}));
  EXPECT_EQ(cut_to({-1, 500}, std::chrono::seconds(2)), (FileTime{-2, 0})) << "downwards, before 1970, too";
}

TEST(SurroundingsOfDirectories, DifferByTheGroupThatTheyGive) {
  const Folder folder;
  std::filesystem::create_directory(folder / "plain");
  std::filesystem::create_directory(folder / "shared");
  ASSERT_EQ(::chmod((folder / "shared").c_str(), 02775), 0);
  const DirectoryContext top = directory_context_of(opened(folder.path()));
  EXPECT_EQ(directory_context_of(opened(folder / "plain", O_PATH)), top);
  EXPECT_NE(directory_context_of(opened(folder / "shared", O_PATH)), top);
}

TEST(SurroundingsOfDirectories, DifferByTheirMount) {
  EXPECT_NE(directory_context_of(opened("/proc")).mount, directory_context_of(opened("/")).mount);
}

}  // namespace
}  // namespace udtcat::trees
