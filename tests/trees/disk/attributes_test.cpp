// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/attributes.hpp"

#include <array>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "files/file_tree.hpp"
#include "support/deadline.hpp"
#include "support/failing_calls.hpp"
#include "trees/disk/fingerprint.hpp"
#include "trees/disk/folder.hpp"

namespace udtcat::trees {
namespace {

class FileAttributes : public testing::Test {
 protected:
  [[nodiscard]] files::FileLocation at(const std::string& name) const {
    return files::FileTree::open(folder.path()).value().locate(name, Errc::local_read_failed).value();
  }
  [[nodiscard]] struct stat status(const std::string& name) const { return at(name).look().value().value(); }
  [[nodiscard]] Attributes read(const std::string& name) const {
    return read_attributes(at(name), status(name)).value();
  }
  /// Whether it has all of them then.
  [[nodiscard]] bool write(const std::string& name, const Attributes& attributes,
                           const AttributeTraits& attribute_traits = {}) const {
    return losses(name, attributes, attribute_traits).empty();
  }
  [[nodiscard]] Losses losses(const std::string& name, const Attributes& attributes,
                              const AttributeTraits& attribute_traits = {}) const {
    const auto opened = at(name).open(O_PATH, Errc::local_write_failed).value();
    return write_attributes(opened, attributes, attribute_traits, false, name).value();
  }
  [[nodiscard]] bool set_extended(const std::string& name, const char* attribute, const std::string& value) const {
    return ::setxattr((folder / name).c_str(), attribute, value.data(), value.size(), 0) == 0;
  }

  Folder folder;
};

TEST_F(FileAttributes, SurviveAWriteAndARead) {
  folder.write("a", bytes_of("a"));
  folder.write("b", bytes_of("b"));
  Attributes attributes = read("a");
  attributes.mode = 06751;
  attributes.changed = {-17, 999'999'999};
  ASSERT_TRUE(write("b", attributes));
  EXPECT_EQ(read("b").mode, 06751U);
  EXPECT_EQ(read("b").changed, attributes.changed);
  EXPECT_EQ(read("b").owner.uid, ::geteuid());
  EXPECT_EQ(folder.read("b"), bytes_of("b"));
}

TEST_F(FileAttributes, AreRemovedFromTheUsersNamespaceWhereNotWanted) {
  folder.write("a", {});
  if (!set_extended("a", "user.old", "x")) GTEST_SKIP() << "this file system has no extended attributes";
  ASSERT_TRUE(set_extended("a", "user.kept", "1"));
  Attributes attributes = read("a");
  ASSERT_EQ(attributes.extended.size(), 2U);
  EXPECT_EQ(attributes.extended[0], (ExtendedAttribute{"user.kept", "1"}));
  attributes.extended = {{"user.kept", "2"}, {"user.new", std::string("\0b", 2)}};
  ASSERT_TRUE(write("a", attributes));
  EXPECT_EQ(read("a").extended, attributes.extended);
}

TEST_F(FileAttributes, OfTheSystemAreSetOnlyWithTheOwner) {
  folder.write("a", {});
  Attributes attributes = read("a");
  attributes.extended.push_back({"trusted.x", "1"});
  ASSERT_TRUE(write("a", attributes)) << "which is passed over";
  EXPECT_TRUE(read("a").extended.empty());
}

TEST_F(FileAttributes, OfASymbolicLinkAreItsOwn) {
  folder.write("target", {});
  std::filesystem::create_symlink("target", folder / "link");
  const auto before = status("target");
  Attributes attributes = read("link");
  attributes.changed = {5, 6};
  attributes.mode = 0;
  attributes.extended = {{"user.x", "1"}};
  ASSERT_TRUE(write("link", attributes));
  EXPECT_EQ(read("link").changed, (FileTime{5, 6}));
  EXPECT_EQ(status("target").st_mtim.tv_sec, before.st_mtim.tv_sec);
  EXPECT_EQ(status("target").st_mode, before.st_mode);
  EXPECT_TRUE(read("target").extended.empty());
}

TEST_F(FileAttributes, ThatAreEqualAreNotSetAgain) {
  folder.write("a", {});
  const Attributes attributes = read("a");
  const auto before = status("a");
  test::let_pass(kLately);
  ASSERT_TRUE(write("a", attributes, {.owners = true}));
  EXPECT_EQ(status("a").st_ctim.tv_nsec, before.st_ctim.tv_nsec);
  EXPECT_EQ(status("a").st_ctim.tv_sec, before.st_ctim.tv_sec);
}

TEST_F(FileAttributes, HaveNoOwnerOfTheNumberThatMeansNone) {
  folder.write("a", {});
  Attributes attributes = read("a");
  attributes.owner = {0xffffffff, 0, "", ""};
  EXPECT_TRUE(write("a", attributes)) << "it is not wanted";
  EXPECT_EQ(losses("a", attributes, {.owners = true}).at(0).what, "owner");
}

TEST_F(FileAttributes, KeepTheModeThatAChangeOfOwnerTakesAway) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  folder.write("a", {});
  Attributes attributes = read("a");
  attributes.mode = 06755;
  attributes.owner = {12'345, 54'321, "no user of this name", ""};
  ASSERT_TRUE(write("a", attributes, {.owners = true}));
  EXPECT_EQ(read("a").mode, 06755U);
  EXPECT_EQ(read("a").owner.uid, 12'345U);
  EXPECT_EQ(read("a").owner.gid, 54'321U);
}

TEST_F(FileAttributes, AreAnErrorWhereAUsersIsListedAndCannotBeRead) {
  folder.write("a", {});
  ASSERT_TRUE(set_extended("a", "user.mark", "1"));
  const auto location = at("a");
  const struct stat now = status("a");
  for (const int error : {EOPNOTSUPP, EACCES, EIO})
    std::thread([&] {
      test::fail_calls({SYS_getxattr, SYS_lgetxattr, SYS_fgetxattr}, error);
      EXPECT_FALSE(read_attributes(location, now)) << error;
    }).join();
}

}  // namespace
}  // namespace udtcat::trees
