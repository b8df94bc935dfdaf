// SPDX-License-Identifier: Apache-2.0
#include "files/file_tree.hpp"

#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "files/folder.hpp"
#include "lib/core/user_text.hpp"
#include "support/failing_calls.hpp"

namespace udtcat::files {
namespace {

using Kind = FileTree::Entry::Kind;

class FileTrees : public testing::Test {
 protected:
  Folder folder;
  Folder outside;
};

TEST_F(FileTrees, AreMadeAndListedInOrder) {
  const auto tree = FileTree::make(folder / "new").value();
  for (const char* path : {"b", "a", "a/c", "a/c"}) EXPECT_TRUE(tree.make_directory(path)) << path;
  EXPECT_TRUE(tree.locate("a/file", Errc::local_write_failed)->open(O_WRONLY | O_CREAT, Errc::local_write_failed));
  std::filesystem::create_symlink("c", folder / "new/a/link");
  ASSERT_EQ(::mkfifo((folder / "new/a/pipe").c_str(), 0600), 0);
  const auto entries = tree.list("a").value();
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_TRUE(entries[0].name == "c" && entries[0].kind == Kind::directory);
  EXPECT_TRUE(entries[1].name == "file" && entries[1].kind == Kind::file);
  EXPECT_TRUE(entries[2].name == "link" && entries[2].kind == Kind::link);
  EXPECT_TRUE(entries[3].name == "pipe" && entries[3].kind == Kind::special);
  EXPECT_EQ(tree.list("").value().size(), 2U);
}

TEST_F(FileTrees, AreNotMadeWhereTheirNamesCannotBeStored) {
  const auto tree = FileTree::open(folder.path()).value();
  std::thread([&] {
    test::fail_calls({SYS_fsync}, EIO);
    EXPECT_FALSE(FileTree::make(folder / "new"));
    EXPECT_FALSE(tree.make_directory("own"));
  }).join();
}

TEST_F(FileTrees, AreNotLeftByASymbolicLink) {
  outside.write("file", bytes_of("x"));
  std::filesystem::create_directory_symlink(outside.path(), folder / "link");
  std::filesystem::create_symlink(outside / "file", folder / "file");
  const auto tree = FileTree::open(folder.path()).value();
  EXPECT_FALSE(tree.make_directory("link"));
  EXPECT_FALSE(tree.make_directory("link/new"));
  EXPECT_FALSE(tree.locate("link/file", Errc::local_write_failed));
  EXPECT_FALSE(tree.list("link"));
  EXPECT_FALSE(tree.locate("file", Errc::local_read_failed)->open(O_RDONLY, Errc::local_read_failed));
  EXPECT_FALSE(std::filesystem::exists(outside / "new"));
}

TEST_F(FileTrees, AreMadeBelowAnotherWithAllOnTheWayAndThroughNoLink) {
  const auto tree = FileTree::open(folder.path()).value();
  const auto own = tree.make_below("teams/alice").value();
  EXPECT_TRUE(own.make_directory("new"));
  EXPECT_TRUE(folder.has("teams/alice/new"));
  EXPECT_TRUE(tree.make_below("teams/alice")) << "again";
  EXPECT_TRUE(tree.make_below("").value().list("").value().size() == 1) << "the tree itself";
  std::filesystem::create_directory_symlink(outside.path(), folder / "link");
  EXPECT_FALSE(tree.make_below("link"));
  EXPECT_FALSE(tree.make_below("link/alice"));
  EXPECT_FALSE(outside.has("alice"));
}

TEST_F(FileTrees, NameWhatIsInTheWay) {
  folder.write("file", bytes_of("x"));
  const auto tree = FileTree::open(folder.path()).value();
  EXPECT_NE(tree.make_directory("file").error().message().find("/file: not a directory"), std::string::npos)
      << tree.make_directory("file").error().message();
  EXPECT_EQ(FileTree::open(folder / "file").error().code, Errc::local_read_failed);
  EXPECT_EQ(FileTree::make(folder / "none/none").error().code, Errc::local_write_failed);
}

TEST_F(FileTrees, HaveTreesBelowThemThatAreNotLeftEither) {
  std::filesystem::create_directories(folder / "a/b");
  std::filesystem::create_directory_symlink(outside.path(), folder / "a/link");
  const auto tree = FileTree::open(folder.path()).value();
  const auto below = tree.below("a/b", Errc::local_read_failed).value();
  EXPECT_EQ(below.shown("x"), folder / "a/b/x");
  EXPECT_TRUE(below.make_directory("c"));
  EXPECT_TRUE(folder.has("a/b/c"));
  EXPECT_FALSE(below.enter("..", Errc::local_read_failed)) << "above it is nothing";
  EXPECT_FALSE(tree.below("a/link", Errc::local_read_failed));
  EXPECT_FALSE(tree.enter("/", Errc::local_read_failed));
}

/// A kernel before 5.6, or a sandbox.
TEST_F(FileTrees, AreNotLeftWhereTheSystemHasNoOpenat2) {
  std::filesystem::create_directories(folder / "a/b");
  std::filesystem::create_directory_symlink(outside.path(), folder / "a/link");
  const auto tree = FileTree::open(folder.path()).value();
  std::thread([&] {
    test::fail_calls({SYS_openat2}, ENOSYS);
    const auto below = tree.below("a", Errc::local_read_failed);
    ASSERT_TRUE(below) << below.error().message();
    EXPECT_TRUE(below->enter("b", Errc::local_read_failed));
    for (const char* path : {"..", "b/../..", "link", "link/x", "/", "/etc"})
      EXPECT_FALSE(below->enter(path, Errc::local_read_failed)) << path;
    EXPECT_FALSE(below->below_link("link", Errc::local_read_failed));
  }).join();
}

TEST_F(FileTrees, NameTheirFilesAsTheUserDoes) {
  EXPECT_EQ(FileTree::open("/")->shown("etc"), "/etc");
  EXPECT_EQ(FileTree::open(".")->shown("a/b"), "a/b");
}

class TreeCursors : public FileTrees {};

TEST_F(TreeCursors, StayInADirectoryThatWasMoved) {
  std::filesystem::create_directory(folder / "d");
  TreeCursor cursor(FileTree::open(folder.path()).value());
  EXPECT_TRUE(cursor.locate("d/a", Errc::local_write_failed)->make_directory(0700));
  std::filesystem::rename(folder / "d", folder / "moved");
  std::filesystem::create_directory_symlink(outside.path(), folder / "d");
  EXPECT_TRUE(cursor.locate("d/b", Errc::local_write_failed)->make_directory(0700));
  EXPECT_TRUE(folder.has("moved/b"));
  EXPECT_TRUE(std::filesystem::is_empty(outside.path()));
}

TEST_F(TreeCursors, FindFilesOfOneDirectoryAfterAnother) {
  std::filesystem::create_directories(folder / "a/b");
  folder.write("a/f", bytes_of("1"));
  folder.write("a/b/f", bytes_of("22"));
  folder.write("f", bytes_of("333"));
  TreeCursor cursor(FileTree::open(folder.path()).value());
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(cursor.locate("a/f", Errc::local_read_failed)->size(), 1U);
    EXPECT_EQ(cursor.locate("f", Errc::local_read_failed)->size(), 3U);
    EXPECT_EQ(cursor.locate("a/b/f", Errc::local_read_failed)->size(), 2U);
    EXPECT_FALSE(cursor.locate("none/f", Errc::local_read_failed));
  }
}

TEST_F(FileTrees, NameTheLinkThatIsInTheWay) {
  std::filesystem::create_directories(folder / "real/below");
  folder.write("file", {});
  std::filesystem::create_directory_symlink("real", folder / "link");
  const auto tree = FileTree::open(folder.path()).value();
  for (const char* path : {"link", "link/below"}) {
    const std::string link = folder / "link";
    EXPECT_EQ(tree.enter(path, Errc::local_read_failed).error().cause,
              link + " is a symbolic link; nothing is read through it");
    EXPECT_EQ(tree.enter(path, Errc::local_write_failed).error().cause,
              link + " is a symbolic link; nothing is written through it");
  }
  EXPECT_EQ(tree.enter("file/below", Errc::local_read_failed).error().cause, core::errno_text(ENOTDIR));
  EXPECT_EQ(tree.enter("none/link", Errc::local_read_failed).error().cause, core::errno_text(ENOENT));
}

TEST_F(FileTrees, FollowALastLinkWhereThatIsMeantAndLeadNowhereElse) {
  std::filesystem::create_directories(folder / "in/real/below");
  std::filesystem::create_directories(folder / "out");
  folder.write("in/file", {});
  const std::vector<std::pair<const char*, const char*>> links{
      {"in/link", "real"},    {"in/to_link", "link"}, {"in/up", "../out"}, {"in/away", "/etc"},
      {"in/none", "no such"}, {"in/to_file", "file"}, {"in/above", ".."}};
  for (const auto& [link, target] : links) std::filesystem::create_symlink(target, folder / link);
  const auto tree = FileTree::open(folder / "in").value();
  for (const char* path : {"real", "link", "to_link"})
    EXPECT_EQ(tree.below_link(path, Errc::local_read_failed)->names("").value(), (std::vector<std::string>{"below"}));
  for (const char* path : {"up", "away", "above"}) {
    const auto below = tree.below_link(path, Errc::local_read_failed);
    ASSERT_FALSE(below) << path;
    EXPECT_NE(below.error().cause.find("leads out of"), std::string::npos) << below.error().cause;
  }
  for (const char* path : {"none", "to_file", "file", "link/below"})
    EXPECT_FALSE(tree.below_link(path, Errc::local_read_failed)) << path;
}

TEST_F(FileTrees, ListNoOtherDirectoryThanTheOneThatIsMeant) {
  std::filesystem::create_directory(folder / "d");
  const auto tree = FileTree::open(folder.path()).value();
  const auto status = tree.below("d", Errc::local_read_failed)->look().value();
  EXPECT_TRUE(tree.names("d", &status));
  std::filesystem::rename(folder / "d", folder / "e");
  std::filesystem::create_directory(folder / "d");
  EXPECT_EQ(tree.names("d", &status).error().cause, "it is another directory by now");
}

}  // namespace
}  // namespace udtcat::files
