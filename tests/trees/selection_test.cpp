// SPDX-License-Identifier: Apache-2.0
#include "trees/selection.hpp"

#include <filesystem>
#include <functional>

#include <gmock/gmock.h>

#include "trees/ends.hpp"

namespace udtcat::trees {
namespace {

using testing::HasSubstr;

class Selections : public testing::Test {
 protected:
  [[nodiscard]] Result<Source> listed(const std::string& text) const {
    folder.write("list", bytes_of(text));
    return source_of({.list = folder / "list"});
  }
  static std::vector<std::string> names_of(Source& source) {
    std::vector<std::string> names;
    for (auto item = source.next(); item; item = source.next())
      names.push_back(*item ? (*item)->path : item->error().message());
    return names;
  }

  Folder folder;
};

TEST_F(Selections, ArePathsWithoutAList) {
  folder.write("file", bytes_of("x"));
  EXPECT_TRUE(ready({.paths = {folder / "file"}}));
  auto source = source_of({.paths = {folder / "file"}});
  ASSERT_TRUE(source);
  EXPECT_EQ(names_of(*source), std::vector<std::string>{"file"});
  EXPECT_EQ(ready({.paths = {folder / "file", folder / "d/file"}}).error().code, Errc::local_read_failed);
}

TEST_F(Selections, NeedOnePathThatIsThere) {
  folder.write("file", bytes_of("x"));
  const auto none = ready({.paths = {folder / "none"}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message(), "send " + (folder / "none") + ": no such file or directory");
  EXPECT_TRUE(ready({.paths = {folder / "file", folder / "none"}}));
}

TEST_F(Selections, AreCheckedPathByPath) {
  folder.write("file", bytes_of("x"));
  EXPECT_TRUE(check({.paths = {folder / "file"}}));
  EXPECT_EQ(check({.paths = {folder / "file", folder / "none"}}).error().code, Errc::local_read_failed);
  EXPECT_FALSE(check({.list = folder / "none"}));
}

TEST_F(Selections, AreNamesOfAListThatEndWithNul) {
  folder.write("a", bytes_of("x"));
  folder.write("a\nb", bytes_of("x"));
  const std::string name = folder / "a\nb";
  for (const std::string& text : {(folder / "a") + '\0' + name + '\0', name + '\0', '\0' + name + '\0' + '\0'}) {
    auto source = listed(text);
    ASSERT_TRUE(source);
    EXPECT_EQ(names_of(*source).back(), name.substr(1));
  }
}

TEST_F(Selections, RefuseATruncatedList) {
  for (const std::string& text :
       {std::string("a"), std::string("a\0b", 3), std::string("\0b", 2), std::string("a\0\n", 3)}) {
    const auto cut = listed(text);
    ASSERT_FALSE(cut) << text;
    EXPECT_EQ(cut.error().code, Errc::bad_argument);
    EXPECT_THAT(cut.error().message(), HasSubstr("its last name does not end with NUL"));
  }
}

TEST_F(Selections, AreReadFromAListOnce) {
  folder.write("list", bytes_of(std::string("a\0", 2)));
  const auto selection = ready({.list = folder / "list"});
  ASSERT_TRUE(selection);
  EXPECT_EQ(selection->listed, std::vector<std::string>{"a"});
  std::filesystem::remove(folder / "list");
  EXPECT_TRUE(source_of(*selection));
}

TEST_F(Selections, RefuseAListOfLines) {
  const auto lines = listed("out/other\nout/d\n");
  ASSERT_FALSE(lines);
  EXPECT_EQ(lines.error().code, Errc::bad_argument);
  EXPECT_THAT(lines.error().message(), HasSubstr("find -print0"));
}

TEST_F(Selections, AreEmptyForAnEmptyList) {
  auto source = listed("");
  ASSERT_TRUE(source);
  EXPECT_TRUE(names_of(*source).empty());
}

TEST_F(Selections, AreReadFromALongList) {
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += "no-such-name-" + std::to_string(i) + '\0';  // some MiB
  auto source = listed(text);
  ASSERT_TRUE(source);
  EXPECT_EQ(names_of(*source).size(), 300'000U);
}

TEST_F(Selections, ReportAListThatCannotBeRead) {
  const auto none = source_of({.list = folder / "none"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::local_read_failed);
  EXPECT_THAT(none.error().message(), HasSubstr("the list of files " + (folder / "none")));
  EXPECT_FALSE(source_of({.list = folder.path()})) << "a directory";
}

}  // namespace
}  // namespace udtcat::trees
