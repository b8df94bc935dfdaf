// SPDX-License-Identifier: Apache-2.0
#include "files/directory_count.hpp"

#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "files/folder.hpp"

namespace udtcat::files {
namespace {

using testing::HasSubstr;

class DirectoryCounts : public testing::Test {
 protected:
  [[nodiscard]] Result<DirectoryCount> count(bool is_wanted = true) const {
    return count_directory(FileTree::open(folder.path()).value(), [=] { return is_wanted; });
  }
  void file(const std::string& name, std::uint64_t bytes) const {
    std::filesystem::create_directories((folder.path() / name).parent_path());
    folder.write(name, {});
    std::filesystem::resize_file(folder.path() / name, bytes);
  }

  Folder folder;
};

TEST_F(DirectoryCounts, HaveSizesAndNamesAtAnyDepthAndFilesOnce) {
  file("a", 1'000);
  file("deep/er/b", 2'000);
  std::filesystem::create_hard_link(folder.path() / "a", folder.path() / "deep/a");
  std::filesystem::create_symlink("/", folder.path() / "link");
  EXPECT_EQ(count()->bytes, 3'000 + 6 * kNameBytes);
  EXPECT_EQ(count()->part_bytes, 0U);
}

TEST_F(DirectoryCounts, SayWhatIsInParts) {
  file("a", 1'000);
  file(".udtcat-parts-1000/job/0", 2'000);
  file("f.part", 3'000);
  file("f.part.have", 10);
  file("g.part~2", 4'000);
  file("g.part~2.have", 10);
  file("users.part", 5'000);
  file("users.partial.have", 5'000);
  const auto counted = count();
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->part_bytes, 2'000 + 3'000 + 4'000 + 4 * kNameBytes);
  EXPECT_TRUE(counted->oldest_part);
}

TEST_F(DirectoryCounts, AreAnErrorThatNamesTheDirectoryWhereItIsTooDeep) {
  bridge::Descriptor at(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY));
  for (std::size_t depth = 0; depth <= kMaxCountedDepth; ++depth) {
    ASSERT_EQ(::mkdirat(at.number(), "d", 0700), 0);
    at = bridge::Descriptor(::openat(at.number(), "d", O_RDONLY | O_DIRECTORY));
    const bool may_be_so_deep = depth + 1 < kMaxCountedDepth;
    EXPECT_TRUE(depth % 50 != 0 || !may_be_so_deep || count()) << depth;
  }
  const auto counted = count();
  ASSERT_FALSE(counted);
  EXPECT_EQ(counted.error().code, Errc::local_read_failed);
  EXPECT_THAT(counted.error().message(), HasSubstr("/d/d/d"));
  EXPECT_THAT(counted.error().message(), HasSubstr("more than 256 deep"));
}

TEST_F(DirectoryCounts, EndWhereNobodyWantsThem) {
  for (int i = 0; i < 2'000; ++i) folder.write(std::to_string(i), {});
  const auto counted = count(false);
  ASSERT_FALSE(counted);
  EXPECT_EQ(counted.error().code, Errc::interrupted);
}

TEST_F(DirectoryCounts, AreNeverSmallForBeingLarge) {
  EXPECT_EQ(sum_of(UINT64_MAX - 1, 1), UINT64_MAX);
  EXPECT_EQ(sum_of(UINT64_MAX - 1, 2), UINT64_MAX);
  EXPECT_EQ(sum_of(UINT64_MAX, UINT64_MAX), UINT64_MAX);
}

}  // namespace
}  // namespace udtcat::files
