// SPDX-License-Identifier: Apache-2.0
#include "trees/source.hpp"

#include <filesystem>
#include <map>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "files/folder.hpp"

namespace udtcat::trees {
namespace {

using files::bytes_of;
using files::Folder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Sources : public testing::Test {
 protected:
  Sources() {
    std::filesystem::create_directories(folder / "a/b");
    folder.write("a/b/f", bytes_of("f"));
    folder.write("a/g", bytes_of("g"));
    folder.write("h", bytes_of("h"));
  }
  [[nodiscard]] std::string at(const std::string& path) const { return folder / path; }
  [[nodiscard]] Result<Source> below(const std::vector<std::string>& arguments) const {
    return Source::of_tree(files::FileTree::open(folder.path()).value(), arguments);
  }
  /// Paths as the receiver has them, and "!" for an error. Each is found again at its place.
  static std::vector<std::string> all_of(Source source) {
    std::vector<std::string> paths;
    for (auto item = source.next(); item; item = source.next()) {
      paths.push_back(*item ? (*item)->path : "!");
      if (!*item) continue;
      const auto again = source.look((*item)->source_name);
      EXPECT_EQ(again.value().value().status.st_ino, (*item)->visited.status.st_ino);
    }
    return paths;
  }
  static std::vector<std::string> all_of(const Result<Source>& source) { return all_of(source.value()); }

  Folder folder;
};

TEST_F(Sources, StandUnderTheLastNamesOfArguments) {
  EXPECT_THAT(all_of(Source::of_arguments({at("a")})), ElementsAre("a", "a/b", "a/b/f", "a/g"));
  EXPECT_THAT(all_of(Source::of_arguments({at("a//")})), ElementsAre("a", "a/b", "a/b/f", "a/g"));
  EXPECT_THAT(all_of(Source::of_arguments({at("a/b/f"), at("h")})), ElementsAre("f", "h"));
}

TEST_F(Sources, ThatEndInADotAreTheirContents) {
  EXPECT_THAT(all_of(Source::of_arguments({at("a/.")})), ElementsAre(".", "b", "b/f", "g"));
  EXPECT_THAT(all_of(Source::of_arguments({at("a/b/..")})), ElementsAre(".", "b", "b/f", "g"));
}

TEST_F(Sources, OfTheSameNameAreRefused) {
  folder.write("a/h", {});
  EXPECT_EQ(Source::of_arguments({at("h"), at("a/h")}).error().code, Errc::bad_argument);
  EXPECT_EQ(Source::of_arguments({at("a/."), at("a/b/.")}).error().code, Errc::bad_argument);
}

/// Content beside a path of a name that is in it; each for the user's arguments, and for a peer's.
TEST_F(Sources, OfContentsWithANameOfAnotherPathAreRefused) {
  const std::vector<std::vector<std::string>> pairs{{"a/.", "c/b"},  {"c/b", "a/."}, {"a/.", "c/g"}, {"a/.", "c/b/"},
                                                    {"a/.", "c/."},  {"a/g", "c/g"}, {"h", "./h"},   {"a/", "./a"},
                                                    {"c/b", "a/b/"}, {"h", "h"}};
  std::filesystem::create_directories(folder / "c/b");
  folder.write("c/g", bytes_of("another"));
  for (auto pair : pairs) {
    const auto of_peer = below(pair);
    ASSERT_FALSE(of_peer) << pair[0] << ' ' << pair[1];
    EXPECT_EQ(of_peer.error().code, Errc::bad_argument);
    for (std::string& path : pair) path = at(path);
    EXPECT_EQ(Source::of_arguments(pair).error().code, Errc::bad_argument) << pair[0] << ' ' << pair[1];
  }
  EXPECT_THAT(all_of(below({"a/.", "a/g"})), ElementsAre(".", "b", "b/f", "g")) << "which comes once";
  EXPECT_THAT(all_of(below({"a/b", "a/."})), ElementsAre("b", "b/f", ".", "g"));
  EXPECT_THAT(all_of(below({"a/.", "h"})), ElementsAre(".", "b", "b/f", "g", "h"));
  EXPECT_THAT(all_of(Source::of_arguments({at("a/."), at("h")})), ElementsAre(".", "b", "b/f", "g", "h"));
}

TEST_F(Sources, OfContentsSkipAFileThatComesByAnotherPath) {
  auto source = Source::of_arguments({at("a/."), at("h")}).value();
  std::filesystem::create_directory(folder / "a/h");
  folder.write("a/h/below", bytes_of("x"));
  EXPECT_THAT(all_of(std::move(source)), ElementsAre(".", "b", "b/f", "g", "!", "h"));
}

TEST_F(Sources, ThatEndInASlashAreTheDirectoriesThatLinksLeadTo) {
  std::filesystem::create_directory_symlink("a", folder / "data");
  std::filesystem::create_symlink("nowhere", folder / "dang");
  std::filesystem::create_symlink("h", folder / "to_file");
  for (const char* path : {"data/", "data//"}) {
    EXPECT_THAT(all_of(Source::of_arguments({at(path)})), ElementsAre("data", "data/b", "data/b/f", "data/g"));
    EXPECT_THAT(all_of(below({path})), ElementsAre("data", "data/b", "data/b/f", "data/g"));
  }
  EXPECT_THAT(all_of(below({"data/."})), ElementsAre(".", "b", "b/f", "g"));
  EXPECT_THAT(all_of(Source::of_arguments({at("data")})), ElementsAre("data"));
  EXPECT_THAT(all_of(Source::of_arguments({at("a/")})), ElementsAre("a", "a/b", "a/b/f", "a/g"));
  for (const char* path : {"dang/", "h/", "to_file/", "none/"}) {
    EXPECT_EQ(Source::of_arguments({at(path)}).error().code, Errc::local_read_failed) << path;
    EXPECT_EQ(below({path}).error().code, Errc::local_read_failed) << path;
  }
}

TEST_F(Sources, OfAPeerWithASlashStayBelowItsDirectory) {
  std::filesystem::create_directory_symlink("/etc", folder / "link");
  std::filesystem::create_directory_symlink("../..", folder / "a/up");
  for (const char* path : {"link/", "link/.", "a/up/", "a/up/.", "link/ssl/"}) EXPECT_FALSE(below({path})) << path;
}

TEST_F(Sources, OfAListThatEndInASlashAreDirectories) {
  std::filesystem::create_directory_symlink("a", folder / "data");
  auto source = Source::of_list({at("data/"), at("a/"), at("h/"), at("none/")}).value();
  std::map<std::string, bool> directories;
  int errors = 0;
  for (auto item = source.next(); item; item = source.next())
    if (*item)
      directories[(*item)->path] = S_ISDIR((*item)->visited.status.st_mode);
    else
      ++errors;
  EXPECT_TRUE(directories.at(at("data").substr(1)));
  EXPECT_TRUE(directories.at(at("a").substr(1)));
  EXPECT_EQ(errors, 2) << "a file, and nothing";
}

TEST_F(Sources, OfAListAreNotReadThroughALink) {
  std::filesystem::create_directory_symlink("a", folder / "data");
  for (const char* first : {"data", "h"}) {
    auto source = Source::of_list({at(first), at("data/g"), at("data/b/f")}).value();
    std::vector<std::string> errors;
    for (auto item = source.next(); item; item = source.next())
      if (!*item) errors.push_back(item->error().message());
    ASSERT_EQ(errors.size(), 2U);
    EXPECT_THAT(errors[0], HasSubstr("data is a symbolic link; nothing is read through it"));
    EXPECT_THAT(errors[1], HasSubstr("data is a symbolic link; nothing is read through it"));
    EXPECT_THAT(errors[1], HasSubstr("data/b/f"));
  }
}

TEST_F(Sources, OfAListBelowAMissingDirectoryAreEachReported) {
  auto source = Source::of_list({at("none/1"), at("none/2"), at("h/3")}).value();
  std::vector<std::string> errors;
  for (auto item = source.next(); item; item = source.next())
    if (!*item) errors.push_back(item->error().message());
  EXPECT_THAT(errors, ElementsAre(HasSubstr("none/1"), HasSubstr("none/2"), HasSubstr("h/3")));
}

TEST_F(Sources, OfAListRefusePartsOfATransfer) {
  auto source = Source::of_list({"./.udtcat-parts/x"}).value();
  EXPECT_EQ(source.next()->error().error.cause, kLeftByATransfer);
}

TEST_F(Sources, KeepFewDirectoriesOpen) {
  std::vector<std::string> arguments;
  for (int number = 0; number < 1'100; ++number) {
    const std::string name = std::to_string(number);
    std::filesystem::create_directory(folder / ("d" + name));
    folder.write("d" + name + "/f" + name, {});
    arguments.push_back("d" + name + "/f" + name);
  }
  const auto open_now = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const auto before = open_now();
  auto of_peer = below(arguments).value();
  EXPECT_LT(open_now() - before, 32);
  for (std::string& argument : arguments) argument = at(argument);
  EXPECT_THAT(all_of(Source::of_arguments(arguments)), testing::SizeIs(1'100));
  EXPECT_THAT(all_of(std::move(of_peer)), testing::Each(testing::StartsWith("f")));
}

TEST_F(Sources, EnterNoOtherDirectoryThanTheOneThatWasFoundFirst) {
  std::vector<std::string> arguments;
  for (int number = 0; number < 40; ++number) {
    const std::string name = std::to_string(number);
    std::filesystem::create_directory(folder / ("d" + name));
    folder.write("d" + name + "/f" + name, {});
    arguments.push_back(at("d" + name + "/f" + name));
  }
  auto source = Source::of_arguments(arguments).value();
  std::filesystem::rename(folder / "d39", folder / "old");
  std::filesystem::create_directory(folder / "d39");
  folder.write("d39/f39", bytes_of("another's"));
  const auto paths = all_of(std::move(source));
  EXPECT_EQ(paths.size(), 40U);
  EXPECT_EQ(paths.back(), "!");
}

TEST_F(Sources, ThatAreMissingAreReportedAndTheRestIsSent) {
  EXPECT_THAT(all_of(Source::of_arguments({at("none"), at("h")})), ElementsAre("!", "h"));
  EXPECT_EQ(Source::of_arguments({at("none/none")}).error().code, Errc::local_read_failed);
}

TEST_F(Sources, OfAPeerAreBelowTheDirectoryThatIsServed) {
  EXPECT_THAT(all_of(below({})), ElementsAre(".", "a", "a/b", "a/b/f", "a/g", "h"));
  EXPECT_THAT(all_of(below({"a/b", "./h"})), ElementsAre("b", "b/f", "h"));
  EXPECT_THAT(all_of(below({"."})), ElementsAre(".", "a", "a/b", "a/b/f", "a/g", "h"));
}

TEST_F(Sources, OfAPeerStayBelowItsDirectory) {
  for (const char* path : {"/etc", "..", "a/../..", "a/..", "/", ".udtcat-parts", ".udtcat-parts/x"})
    EXPECT_EQ(below({path}).error().code, Errc::stream_refused) << path;
  std::filesystem::create_directory_symlink("/etc", folder / "link");
  EXPECT_FALSE(below({"link/passwd"}));
  auto link = below({"link"}).value();
  EXPECT_TRUE(S_ISLNK(link.next()->value().visited.status.st_mode));
  EXPECT_FALSE(link.next());
}

TEST_F(Sources, OfAListKeepTheirPathsWithTheDirectoriesAbove) {
  const std::string a = at("a").substr(1);
  const auto paths = all_of(Source::of_list({at("a/b/f"), at("a/g"), at("a")}));
  EXPECT_EQ(paths.back(), a + "/g") << "the directory has come already";
  EXPECT_EQ(std::ranges::count(paths, a), 1);
  EXPECT_EQ(std::ranges::count(paths, a + "/b/f"), 1);
  EXPECT_EQ(paths.front().find('/'), std::string::npos) << "from the top";
  EXPECT_THAT(all_of(Source::of_list({at("a"), at("none"), "../x"})), testing::Contains("!").Times(2));
  EXPECT_THAT(all_of(Source::of_list({})), IsEmpty());
}

TEST_F(Sources, OfAListWithTheSamePathAreRefused) {
  const std::string path = at("h").substr(1);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  std::filesystem::create_directories(folder / std::filesystem::path(path).parent_path().string());
  folder.write(path, bytes_of("another"));
  const auto paths = all_of(Source::of_list({path, "./" + path, at("h")}));
  std::filesystem::current_path(before);
  EXPECT_EQ(std::ranges::count(paths, path), 1);
  EXPECT_EQ(std::ranges::count(paths, "!"), 1) << "the other one would have the same source_name, and is named";
}

TEST_F(Sources, OfAListDoNotIncludeWhatIsBelowThem) {
  EXPECT_EQ(all_of(Source::of_list({at("a")})).back(), at("a").substr(1));
}

TEST_F(Sources, OpenFilesAndFollowNoLink) {
  auto source = below({"h"}).value();
  const SourceName source_name = source.next()->value().source_name;
  EXPECT_TRUE(source.open(source_name));
  std::filesystem::remove(folder / "h");
  EXPECT_FALSE(source.look(source_name).value());
  std::filesystem::create_symlink("a/g", folder / "h");
  EXPECT_EQ(source.open(source_name).error().error.code, Errc::local_read_failed);
}

}  // namespace
}  // namespace udtcat::trees
