// SPDX-License-Identifier: Apache-2.0
#include "trees/source.hpp"

#include <filesystem>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "files/words.hpp"

namespace udtcat::trees {
namespace {

using files::bytes_of;
using files::Folder;
using testing::ElementsAre;
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
      const auto again = source.look((*item)->place);
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

TEST_F(Sources, ThatEndInADotAreWhatIsInThem) {
  EXPECT_THAT(all_of(Source::of_arguments({at("a/.")})), ElementsAre(".", "b", "b/f", "g"));
  EXPECT_THAT(all_of(Source::of_arguments({at("a/b/..")})), ElementsAre(".", "b", "b/f", "g"));
}

TEST_F(Sources, OfOneNameHaveNoTwoPlaces) {
  folder.write("a/h", {});
  EXPECT_EQ(Source::of_arguments({at("h"), at("a/h")}).error().code, Errc::bad_argument);
  EXPECT_EQ(Source::of_arguments({at("a/."), at("a/b/.")}).error().code, Errc::bad_argument);
}

TEST_F(Sources, ThatAreNotThereAreMissedAndTheRestIsHad) {
  EXPECT_THAT(all_of(Source::of_arguments({at("none"), at("h")})), ElementsAre("!", "h"));
  EXPECT_EQ(Source::of_arguments({at("none/none")}).error().code, Errc::local_read_failed);
}

TEST_F(Sources, OfAPeerAreBelowTheDirectoryThatIsServed) {
  EXPECT_THAT(all_of(below({})), ElementsAre(".", "a", "a/b", "a/b/f", "a/g", "h"));
  EXPECT_THAT(all_of(below({"a/b", "./h"})), ElementsAre("b", "b/f", "h"));
  EXPECT_THAT(all_of(below({"."})), ElementsAre(".", "a", "a/b", "a/b/f", "a/g", "h"));
}

TEST_F(Sources, OfAPeerLeadNowhereElse) {
  for (const char* path : {"/etc", "..", "a/../..", "a/..", "/", ".udtcat-parts", ".udtcat-parts/x"})
    EXPECT_EQ(below({path}).error().code, Errc::stream_refused) << path;
  std::filesystem::create_directory_symlink("/etc", folder / "link");
  EXPECT_FALSE(below({"link/passwd"}));
  auto link = below({"link"}).value();
  EXPECT_TRUE(S_ISLNK(link.next()->value().visited.status.st_mode));
  EXPECT_FALSE(link.next());
}

TEST_F(Sources, OfAListStandAsTheyAreWithTheDirectoriesThatTheyAreIn) {
  const std::string a = at("a").substr(1);
  const auto paths = all_of(Source::of_list({at("a/b/f"), at("a/g"), at("a")}));
  EXPECT_EQ(paths.back(), a + "/g") << "the directory has come already";
  EXPECT_EQ(std::ranges::count(paths, a), 1);
  EXPECT_EQ(std::ranges::count(paths, a + "/b/f"), 1);
  EXPECT_EQ(paths.front().find('/'), std::string::npos) << "from the top";
  EXPECT_THAT(all_of(Source::of_list({at("a"), at("none"), "../x"})), testing::Contains("!").Times(2));
  EXPECT_THAT(all_of(Source::of_list({})), IsEmpty());
}

TEST_F(Sources, OfAListAreNotTwoOfOneName) {
  const std::string path = at("h").substr(1);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  std::filesystem::create_directories(folder / std::filesystem::path(path).parent_path().string());
  folder.write(path, bytes_of("another"));
  const auto paths = all_of(Source::of_list({path, "./" + path, at("h")}));
  std::filesystem::current_path(before);
  EXPECT_EQ(std::ranges::count(paths, path), 1);
  EXPECT_EQ(std::ranges::count(paths, "!"), 1) << "the other one would have the same place, and is named";
}

TEST_F(Sources, OfAListBringNothingThatIsBelowThem) {
  EXPECT_EQ(all_of(Source::of_list({at("a")})).back(), at("a").substr(1));
}

TEST_F(Sources, OpenTheFilesOfTheirPlacesAndFollowNoLink) {
  auto source = below({"h"}).value();
  const Place place = source.next()->value().place;
  EXPECT_TRUE(source.open(place));
  std::filesystem::remove(folder / "h");
  EXPECT_FALSE(source.look(place).value());
  std::filesystem::create_symlink("a/g", folder / "h");
  EXPECT_EQ(source.open(place).error().code, Errc::local_read_failed);
}

}  // namespace
}  // namespace udtcat::trees
