// SPDX-License-Identifier: Apache-2.0
#include "trees/watched_file.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <tuple>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "files/file_tree.hpp"
#include "files/folder.hpp"

namespace udtcat::trees {
namespace {

using files::bytes_of;
using files::Folder;
using Seen = WatchedFile::Seen;

/// In a directory of a file system that tells of each change where there is one, and in one of memory that does not.
class WatchedFiles : public testing::Test {
 protected:
  WatchedFiles() { folder.write("f", files::Bytes(kBytes)); }

  [[nodiscard]] files::FileLocation at(const std::string& name) const {
    return files::FileTree::open(root).value().locate(name, Errc::local_read_failed).value();
  }
  WatchedFile watch() {
    const auto location = at("f");
    WatchedFile::Announced announced{location.look().value().value(), {}};
    return {location, location.open(O_RDONLY, Errc::local_read_failed).value(), announced,
            [this](std::chrono::nanoseconds time) { paused = time; }};
  }
  [[nodiscard]] std::string path() const { return root + "/f"; }
  void set_time_back() const {
    const std::array<timespec, 2> times{timespec{1, 0}, timespec{1, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path().c_str(), times.data(), 0), 0);
  }
  void change() const { std::fstream(path(), std::ios::in | std::ios::out) << "x"; }
  /// Lets the clock go on, by which files are changed.
  void let_time_pass() const {
    const auto before = std::filesystem::last_write_time(path());
    do std::ofstream(folder / "other") << "x";
    while (std::filesystem::last_write_time(folder / "other") <= before);
  }

  static constexpr std::size_t kBytes = 8'192;
  Folder folder;
  std::string root = folder.path();
  std::chrono::nanoseconds paused{0};
};

TEST_F(WatchedFiles, AreTheSameWhereNothingChanges) {
  auto watched = watch();
  EXPECT_TRUE(watched.is_as_announced());
  EXPECT_EQ(watched.look_again(), Seen::same);
  EXPECT_TRUE(watched.keeps_state());
}

TEST_F(WatchedFiles, WaitUntilEachChangeIsSeen) {
  // A host that stalls in between lets the time pass.
  for (int tries = 0; paused.count() == 0 && tries < 100; ++tries) {
    change();
    std::ignore = watch();
  }
  EXPECT_GT(paused.count(), 0) << "it was changed just now";
  EXPECT_LE(paused, kLately);
}

TEST_F(WatchedFiles, HaveOtherContentWhereTheyAreWritten) {
  auto watched = watch();
  let_time_pass();
  change();
  EXPECT_EQ(watched.look_again(), Seen::other_content);
  EXPECT_FALSE(watched.keeps_content());
  EXPECT_FALSE(watched.fingerprint());
}

TEST_F(WatchedFiles, AreReadTwiceWhereTheirStateAloneHasChanged) {
  auto watched = watch();
  let_time_pass();
  std::filesystem::create_hard_link(path(), root + "/other name");
  EXPECT_EQ(watched.look_again(), Seen::unsure);
  EXPECT_TRUE(watched.keeps_content());
  EXPECT_FALSE(watched.keeps_state());
  EXPECT_FALSE(watched.fingerprint());
}

TEST_F(WatchedFiles, AreReadTwiceWhereATimeWasSetBack) {
  set_time_back();
  auto watched = watch();
  let_time_pass();
  change();
  set_time_back();
  EXPECT_EQ(watched.look_again(), Seen::unsure);
}

TEST_F(WatchedFiles, AreNotAsAnnouncedOnceAnotherHasTheirName) {
  const auto location = at("f");
  const WatchedFile::Announced announced{location.look().value().value(), {}};
  folder.write("g", files::Bytes(kBytes));
  std::filesystem::rename(folder / "g", path());
  const WatchedFile watched(location, location.open(O_RDONLY, Errc::local_read_failed).value(), announced, [](auto) {});
  EXPECT_FALSE(watched.is_as_announced());
}

class MappedFiles : public WatchedFiles {
 protected:
  void map() {
    const bridge::Descriptor file(::open(path().c_str(), O_RDWR | O_CLOEXEC));
    memory = static_cast<char*>(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0));
    ASSERT_NE(memory, MAP_FAILED);
    store();  // the page is dirty from now on
  }
  void store() const { *static_cast<volatile char*>(memory) = 'y'; }
  ~MappedFiles() override {
    if (memory != nullptr) ::munmap(memory, kBytes);
  }

  char* memory = nullptr;
};

TEST_F(MappedFiles, ShowStoresOrAreReadTwice) {
  map();
  auto watched = watch();
  let_time_pass();
  store();
  EXPECT_NE(watched.look_again(), Seen::same);
}

TEST_F(MappedFiles, OfAFileSystemThatTellsOfNoneAreReadTwice) {
  root = "/dev/shm/udtcat-test-XXXXXX";
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  const auto removes = std::unique_ptr<std::string, void (*)(std::string*)>(
      &root, [](std::string* made) { std::filesystem::remove_all(*made); });
  std::ofstream(path()) << std::string(kBytes, 'x');
  if (tells_of_changes(at("f"), at("f").look().value().value())) GTEST_SKIP() << "/dev/shm is of the disk here";
  {
    auto watched = watch();
    EXPECT_EQ(watched.look_again(), Seen::same);
    const bridge::Descriptor writer(::open(path().c_str(), O_RDWR | O_CLOEXEC));
    EXPECT_EQ(watched.look_again(), Seen::unsure) << "somebody may store by now";
  }
  map();
  auto watched = watch();
  let_time_pass();
  store();
  EXPECT_EQ(watched.look_again(), Seen::unsure) << "no time has changed";
  EXPECT_FALSE(watched.fingerprint());
}

}  // namespace
}  // namespace udtcat::trees
