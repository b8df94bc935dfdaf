// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/file_identity.hpp"

#include <array>
#include <filesystem>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "files/file_tree.hpp"
#include "trees/disk/folder.hpp"

namespace udtcat::trees {
namespace {

class FileIdentities : public testing::Test {
 protected:
  [[nodiscard]] files::FileLocation at(const char* name) const {
    return files::FileTree::open(folder.path()).value().locate(name, Errc::local_read_failed).value();
  }
  void set_time(const char* name, long nanoseconds) const {
    const std::array<timespec, 2> times{timespec{1, nanoseconds}, timespec{1, nanoseconds}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (folder / name).c_str(), times.data(), 0), 0);
  }

  [[nodiscard]] bool is_still(const FileIdentity& earlier, const char* name) const {
    const auto later = identity_of(at(name));
    return later && *later && is_same_identity(earlier, **later);
  }

  Folder folder;
};

TEST_F(FileIdentities, AreEqualForAllNamesOfAFileAndNoOther) {
  folder.write("a", bytes_of("1"));
  std::filesystem::create_hard_link(folder / "a", folder / "b");
  folder.write("c", bytes_of("1"));
  const auto identity = identity_of(at("a")).value().value();
  EXPECT_TRUE(is_still(identity, "b"));
  EXPECT_FALSE(is_still(identity, "c"));
  EXPECT_TRUE(is_identity_of(identity, at("b").look().value().value()));
  EXPECT_FALSE(is_identity_of(identity, at("c").look().value().value()));
  EXPECT_FALSE(identity_of(at("none")).value());
}

TEST_F(FileIdentities, ChangeWithTheContent) {
  folder.write("a", bytes_of("1"));
  set_time("a", 1);
  auto identity = identity_of(at("a")).value().value();
  EXPECT_TRUE(is_still(identity, "a"));
  identity.is_young = false;
  set_time("a", 2);
  EXPECT_FALSE(is_still(identity, "a"));
  set_time("a", 1);
  EXPECT_TRUE(is_still(identity, "a")) << "another name, say, changes the state and not the file";
  folder.write("a", bytes_of("12"));
  set_time("a", 1);
  EXPECT_FALSE(is_still(identity, "a"));
}

TEST_F(FileIdentities, HoldForAsLongAsTheStateDoesWhereNoTimeOfBirthIsKnown) {
  folder.write("a", bytes_of("1"));
  std::filesystem::create_hard_link(folder / "a", folder / "b");
  auto unborn = identity_of(at("a")).value().value();
  unborn.born = std::nullopt;
  unborn.is_young = false;
  EXPECT_TRUE(is_still(unborn, "b"));
  auto other_state = unborn;
  ++other_state.state_changed;
  EXPECT_FALSE(is_still(other_state, "b"));
}

/// An inode that is free is given to the next file, which is born later.
TEST_F(FileIdentities, DifferWhereAnotherFileHasTheInode) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    folder.write("a", bytes_of("1"));
    set_time("a", 1);
    const auto old = identity_of(at("a")).value().value();
    std::filesystem::remove(folder / "a");
    folder.write("b", bytes_of("2"));
    set_time("b", 1);
    EXPECT_FALSE(is_still(old, "b")) << "attempt " << attempt;
    std::filesystem::remove(folder / "b");
  }
}

}  // namespace
}  // namespace udtcat::trees
