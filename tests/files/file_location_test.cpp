// SPDX-License-Identifier: Apache-2.0
#include "files/file_location.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "files/folder.hpp"

namespace udtcat::files {
namespace {

class FileLocations : public testing::Test {
 protected:
  [[nodiscard]] FileLocation beneath(const std::string& name) const {
    auto directory = std::make_shared<const bridge::Descriptor>(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY));
    return {std::move(directory), name, "/shown/" + name};
  }

  Folder folder;
};

TEST_F(FileLocations, AreTheSameByPathAndByDirectory) {
  folder.write("file", bytes_of("x"));
  for (const FileLocation& place : {FileLocation(folder / "file"), beneath("file")}) {
    EXPECT_TRUE(place.exists() && !place.is_directory() && !place.is_special());
    EXPECT_TRUE(place.open(O_RDONLY, Errc::local_read_failed));
    EXPECT_FALSE(place.with_suffix(".part").exists());
  }
}

TEST_F(FileLocations, AreShownAsTheyWereNamed) {
  EXPECT_EQ(FileLocation("a/b").with_suffix(".part").shown(), "a/b.part");
  const auto opened = beneath("none").open(O_RDONLY, Errc::local_read_failed);
  EXPECT_EQ(opened.error().what, "open /shown/none");
}

TEST_F(FileLocations, HaveRoomForASuffixWhateverTheirLength) {
  for (std::size_t bytes = 1; bytes <= 255; ++bytes) {
    const std::string name(bytes, 'n');
    for (const FileLocation& place : {FileLocation(folder / name), beneath(name)}) {
      const FileLocation helper = place.with_suffix(".part.have").with_suffix(".new");
      ASSERT_TRUE(helper.open(O_WRONLY | O_CREAT, Errc::local_write_failed)) << bytes;
      EXPECT_NE(helper.shown(), place.shown());
      helper.remove();
    }
  }
  EXPECT_FALSE(
      FileLocation(folder / std::string(256, 'n')).with_suffix(".part").open(O_RDWR | O_CREAT, Errc::bad_argument))
      << "no legal name";
}

TEST_F(FileLocations, ThatAreLongKeepTheirHelpersApart) {
  const std::string same(254, 'n');
  EXPECT_NE(FileLocation(same + "a").with_suffix(".part").shown(),
            FileLocation(same + "b").with_suffix(".part").shown());
  EXPECT_EQ(FileLocation(same).with_suffix(".part").shown(), FileLocation(same).with_suffix(".part").shown());
  std::string letters;
  while (letters.size() < 254) letters += "\xc3\xa9";
  for (const std::string& name : {letters, 'a' + letters}) {
    const std::string helper = FileLocation(name).with_suffix(".part").shown();
    const auto hash = helper.find('~');
    EXPECT_EQ(helper[hash - 1], '\xa9') << "no letter is cut";
    EXPECT_TRUE(helper.ends_with(".part") && helper.size() <= 255);
  }
}

TEST_F(FileLocations, KnowWhetherWhatIsOpenStillHasTheirName) {
  folder.write("file", bytes_of("x"));
  const FileLocation place = beneath("file");
  const auto opened = place.open(O_RDONLY, Errc::local_read_failed);
  ASSERT_TRUE(opened);
  EXPECT_TRUE(place.leads_to(*opened));
  ASSERT_TRUE(place.rename_to(beneath("other")));
  EXPECT_FALSE(place.leads_to(*opened)) << "gone";
  folder.write("file", bytes_of("y"));
  EXPECT_FALSE(place.leads_to(*opened)) << "another file";
}

TEST_F(FileLocations, InADirectoryDoNotFollowLinks) {
  const std::string outside = folder.write("outside", bytes_of("x"));
  std::filesystem::create_symlink(outside, folder / "link");
  EXPECT_TRUE(FileLocation(folder / "link").open(O_RDONLY, Errc::local_read_failed));
  EXPECT_FALSE(beneath("link").open(O_RDONLY, Errc::local_read_failed));
  EXPECT_FALSE(beneath("link").open(O_WRONLY | O_CREAT, Errc::local_write_failed));
  EXPECT_TRUE(beneath("link").is_special());
}

TEST_F(FileLocations, TellFilesDirectoriesAndTheRestApart) {
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(FileLocation(folder.path()).is_directory());
  EXPECT_FALSE(FileLocation(folder.path()).is_special());
  EXPECT_TRUE(beneath("pipe").is_special() && FileLocation("/dev/null").is_special());
}

TEST_F(FileLocations, GiveWayToWhatIsRenamedToThem) {
  folder.write("new", bytes_of("new"));
  folder.write("old", bytes_of("old"));
  EXPECT_TRUE(beneath("new").rename_to(beneath("old")));
  EXPECT_TRUE(folder.read("old") == bytes_of("new") && !folder.has("new"));
  EXPECT_EQ(beneath("new").rename_to(beneath("old")).error().code, Errc::local_write_failed);
}

TEST_F(FileLocations, CanBeEmptiedTwice) {
  folder.write("file", {});
  beneath("file").remove();
  beneath("file").remove();
  EXPECT_FALSE(folder.has("file"));
}

}  // namespace
}  // namespace udtcat::files
