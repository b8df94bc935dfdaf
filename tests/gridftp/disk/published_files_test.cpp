// SPDX-License-Identifier: Apache-2.0
#include "gridftp/disk/published_files.hpp"

#include "gridftp/support.hpp"

namespace udtcat::gridftp {
namespace {

/// A directory with two names stands for a file system that takes two names for one.
class PublishedFilesTest : public testing::Test {
 protected:
  PublishedFilesTest() {
    std::filesystem::create_directory(folder / "a");
    std::filesystem::create_directory_symlink("a", folder / "A");
    folder.write("a/file", Bytes(3));
  }

  const Folder folder;
  const files::FileLocation one = files::FileLocation(folder / "a/file");
  const files::FileLocation same = files::FileLocation(folder / "A/file");
  PublishedFiles published;
};

TEST_F(PublishedFilesTest, AreNotReplacedByAnotherOfThem) {
  EXPECT_TRUE(published.may_replace(same, "A/file")) << "it was there before";
  published.note(one, "a/file");
  const auto refused = published.may_replace(same, "A/file");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("has just come as a/file"), std::string::npos) << refused.error().message();
  EXPECT_TRUE(published.may_replace(one, "a/file")) << "a newer one of the same name";
  EXPECT_TRUE(published.may_replace(files::FileLocation(folder / "none"), "none"));
}

TEST_F(PublishedFilesTest, AreForgottenWhereAnybodyHasChangedThem) {
  published.note(one, "a/file");
  published.forget(same);
  EXPECT_TRUE(published.may_replace(same, "A/file"));
  published.note(one, "a/file");
  std::filesystem::last_write_time(folder / "a/file",
                                   std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_TRUE(published.may_replace(same, "A/file")) << "the number may be another file's by now";
  published.note(one, "a/file");
  std::filesystem::create_hard_link(folder / "a/file", folder / "a/link");
  EXPECT_TRUE(published.may_replace(files::FileLocation(folder / "a/link"), "a/link")) << "the first name stays";
}

TEST_F(PublishedFilesTest, AreNotedAsFarAsThereIsRoom) {
  const auto left = std::make_shared<std::atomic<std::int64_t>>(1000);  // room for three
  {
    PublishedFiles few(left);
    for (int twice = 0; twice < 20; ++twice) few.note(one, "a/file");
    EXPECT_GT(*left, 500U) << "a name is noted once";
    EXPECT_FALSE(few.may_replace(same, "A/file"));
    EXPECT_FALSE(few.may_stand_beside(same, "A/file"));
    EXPECT_TRUE(few.may_stand_beside(one, "a/file"));
    few.note(one, std::string(2000, 'x'));
    EXPECT_TRUE(few.may_replace(same, "A/file") && few.may_stand_beside(same, "A/file"));
    EXPECT_EQ(*left, 1000U);
    few.note(one, "a/file");
  }
  EXPECT_EQ(*left, 1000U);
}

}  // namespace
}  // namespace udtcat::gridftp
