// SPDX-License-Identifier: Apache-2.0
#include "trees/entry_reader.hpp"

#include <array>
#include <filesystem>
#include <functional>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "files/folder.hpp"

namespace udtcat::trees {
namespace {

using files::bytes_of;
using files::Folder;

class EntryReaders : public testing::Test {
 protected:
  /// The item of a name as a walk gives it.
  SourceItem visit(const std::string& name) {
    source.emplace(Source::of_tree(files::FileTree::open(folder.path()).value(), {}).value());
    for (auto item = source->next(); item; item = source->next())
      if (*item && (*item)->path == name) return std::move(**item);
    ADD_FAILURE() << "no " << name;
    return source->next()->value();
  }
  /// Reads `second` after `first` was announced and this has happened.
  Entry read_second(const std::function<void()>& change = {}) {
    SourceItem first = visit("first");
    EntryReader reader(*source);
    const Entry announced = reader.read(first).value().value();
    EXPECT_TRUE(announced.may_be_linked);
    EXPECT_TRUE(reader.remember(first, kId));
    if (change) change();
    const std::string path = "second";
    SourceName source_name{first.source_name.root, path};
    auto visited = source->look(source_name).value().value();
    SourceItem second{path, source_name, std::move(visited)};
    return reader.read(second).value().value();
  }
  void link(const char* from, const char* to) const { std::filesystem::create_hard_link(folder / from, folder / to); }
  void set_time(const char* name, time_t seconds) const {
    const std::array<timespec, 2> times{timespec{seconds, 0}, timespec{seconds, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (folder / name).c_str(), times.data(), AT_SYMLINK_NOFOLLOW), 0);
  }

  static constexpr EntryId kId = 7;
  Folder folder;
  std::optional<Source> source;
};

TEST_F(EntryReaders, MakeAHardLinkOfAnotherName) {
  folder.write("first", bytes_of("1"));
  link("first", "second");
  const Entry second = read_second();
  EXPECT_EQ(second.kind, EntryKind::hard_link);
  EXPECT_EQ(second.of, kId);
}

/// The inode is given to the next file, which has two names as well, and the size and time of the first one.
TEST_F(EntryReaders, DoNotLinkToAReusedInode) {
  const std::vector<std::function<void()>> changes{
      [&] { std::filesystem::rename(folder / "other", folder / "first"); },  // and another has the name
      [] {},                                                                 // nothing has it
      [&] { std::filesystem::create_symlink("second", folder / "first"); },
      [&] { std::filesystem::create_directory(folder / "first"); },
  };
  for (const auto& change : changes) {
    std::filesystem::remove_all(folder / "first");
    folder.write("first", bytes_of("1"));
    link("first", "one more");
    folder.write("other", bytes_of("3"));
    for (const char* name : {"first", "other"}) set_time(name, 1);
    const Entry second = read_second([&] {
      for (const char* name : {"first", "one more"}) std::filesystem::remove(folder / name);
      folder.write("second", bytes_of("2"));
      link("second", "third");
      set_time("second", 1);
      change();
    });
    EXPECT_EQ(second.kind, EntryKind::file);
    for (const char* name : {"second", "third", "other"}) std::filesystem::remove(folder / name);
  }
}

TEST_F(EntryReaders, DoNotLinkToAFileThatHasChanged) {
  folder.write("first", bytes_of("1"));
  link("first", "second");
  EXPECT_EQ(read_second([&] { set_time("second", 5); }).kind, EntryKind::file);
}

TEST_F(EntryReaders, DoNotLinkToAForgottenFirstName) {
  folder.write("first", bytes_of("1"));
  link("first", "second");
  SourceItem first = visit("first");
  EntryReader reader(*source);
  EXPECT_TRUE(reader.remember(first, kId));
  reader.forget(first.visited.status, kId + 1);
  SourceItem second = visit("second");
  EXPECT_EQ(reader.read(second).value()->kind, EntryKind::hard_link);
  reader.forget(first.visited.status, kId);
  EXPECT_EQ(reader.read(second).value()->kind, EntryKind::file);
}

/// Whatever a name becomes between its visit and its reading: the entry is of that, or it is said.
TEST_F(EntryReaders, ReadTheCurrentStateOfAName) {
  const std::string path = folder / "name";
  const std::vector<std::pair<EntryKind, std::function<void()>>> kinds{
      {EntryKind::file, [&] { folder.write("name", bytes_of("content")); }},
      {EntryKind::symbolic_link, [&] { std::filesystem::create_symlink("target", path); }},
      {EntryKind::fifo, [&] { ASSERT_EQ(::mkfifo(path.c_str(), 0640), 0); }},
      {EntryKind::directory, [&] { std::filesystem::create_directory(path); }},
  };
  for (const auto& [was, make_first] : kinds)
    for (const auto& [is, make_second] : kinds) {
      std::filesystem::remove_all(path);
      make_first();
      SourceItem item = visit("name");
      std::filesystem::remove_all(path);
      folder.write("between", {});  // so that the inode is another's
      make_second();
      set_time("name", 5);
      EntryReader reader(*source);
      const auto read = reader.read(item);
      const bool is_new_directory = is == EntryKind::directory && was != is;
      ASSERT_EQ(read.has_value(), !is_new_directory);
      if (is_new_directory) {
        EXPECT_THAT(read.error().error.cause, testing::HasSubstr("it has become a directory"));
        continue;
      }
      EXPECT_EQ(read.value()->kind, is);
      EXPECT_EQ(read.value()->attributes.changed.seconds, 5);
      EXPECT_EQ(item.visited.status.st_mtim.tv_sec, 5);
    }
}

TEST_F(EntryReaders, ReportANameThatHasGone) {
  folder.write("name", {});
  SourceItem item = visit("name");
  std::filesystem::remove(folder / "name");
  EXPECT_THAT(EntryReader(*source).read(item).error().error.cause, testing::HasSubstr("it has gone meanwhile"));
}

TEST_F(EntryReaders, ReportPartsAtAnyDepth) {
  for (const char* name : {".udtcat-parts-1", "a/.udtcat-parts"}) {
    std::filesystem::create_directories(folder / name);
    SourceItem item = visit(name);
    EXPECT_EQ(EntryReader(*source).read(item).error().error.cause, kLeftByATransfer);
  }
}

TEST_F(EntryReaders, SeeWhetherAFileStillHasItsAttributes) {
  folder.write("name", bytes_of("1"));
  SourceItem item = visit("name");
  EntryReader reader(*source);
  const Entry entry = reader.read(item).value().value();
  const auto still = [&] { return reader.still_has(item.source_name, item.visited.status, entry.attributes); };
  link("name", "another name");
  EXPECT_TRUE(still());
  ASSERT_EQ(::chmod((folder / "name").c_str(), 0640), 0);
  EXPECT_FALSE(still());
  ASSERT_EQ(::chmod((folder / "name").c_str(), 0600), 0);
  EXPECT_TRUE(still());
  ASSERT_EQ(::setxattr((folder / "name").c_str(), "user.x", "1", 1, 0), 0);
  EXPECT_FALSE(still());
  ASSERT_EQ(::removexattr((folder / "name").c_str(), "user.x"), 0);
  EXPECT_TRUE(still());
  std::filesystem::remove(folder / "name");
  EXPECT_FALSE(still());
}

}  // namespace
}  // namespace udtcat::trees
