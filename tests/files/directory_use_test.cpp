// SPDX-License-Identifier: Apache-2.0
#include "files/directory_use.hpp"

#include <cerrno>
#include <filesystem>
#include <optional>

#include <gmock/gmock.h>

#include "files/folder.hpp"
#include "support/ordinary_user.hpp"

namespace udtcat::files {
namespace {

constexpr std::uint64_t kName = DirectoryUse::kNameBytes;
constexpr std::uint64_t kLimit = 1'000'000;

class DirectoryUsed : public testing::Test {
 protected:
  [[nodiscard]] DirectoryLimit limit() {
    return {.use = uses.open(FileTree::open(folder.path()).value(), DirectoryUse::CountWait::waits).value(),
            .bytes = kLimit,
            .peer = "alice"};
  }
  /// The bytes that may still be written.
  static std::uint64_t room(const DirectoryLimit& limit) {
    std::uint64_t least = 0, most = kLimit;
    while (least < most) {
      const std::uint64_t tried = (least + most + 1) / 2;
      const bool fits = limit.grow(tried, "try").has_value();
      if (fits) limit.use->shrink(tried);
      (fits ? least : most) = fits ? tried : tried - 1;
    }
    return least;
  }
  void file(const std::string& name, std::uint64_t bytes) const {
    std::filesystem::create_directories((folder.path() / name).parent_path());
    folder.write(name, {});
    std::filesystem::resize_file(folder.path() / name, bytes);
  }

  Folder folder;
  DirectoryUses uses;
};

TEST_F(DirectoryUsed, CountsSizesAndNamesAtAnyDepthAndFilesOnce) {
  file("a", 1'000);
  file("deep/er/b", 2'000);
  std::filesystem::create_hard_link(folder.path() / "a", folder.path() / "deep/a");
  std::filesystem::create_symlink("/", folder.path() / "link");
  EXPECT_EQ(room(limit()), kLimit - 3'000 - 6 * kName);
}

TEST_F(DirectoryUsed, RefusesWhatWouldBeMoreAndSaysTheLimit) {
  const DirectoryLimit alice = limit();
  ASSERT_TRUE(alice.grow(kLimit, "write f"));
  const auto refused = alice.grow(1, "write f");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::stream_refused);
  EXPECT_EQ(refused.error().errno_value, EDQUOT);
  EXPECT_EQ(refused.error().message(), "write f: alice may have 1.00 MB here at most (limit=), and has 1.00 MB");
  alice.use->shrink(1);
  EXPECT_TRUE(alice.grow(1, "write f"));
  EXPECT_FALSE(alice.grow(UINT64_MAX, "write f")) << "of which a sum would be small";
}

TEST_F(DirectoryUsed, IsOneForAllThatWriteThereAtTheSameTime) {
  const DirectoryLimit one = limit();
  ASSERT_TRUE(one.grow(900'000, "write f"));
  EXPECT_EQ(room(limit()), kLimit - 900'000);
}

TEST_F(DirectoryUsed, IsCountedAgainWhenNobodyWritesThere) {
  { ASSERT_TRUE(limit().grow(900'000, "write f")); }
  file("f", 100'000);
  EXPECT_EQ(room(limit()), kLimit - 100'000 - kName);
}

TEST_F(DirectoryUsed, FailsWhereItCannotBeCounted) {
  file("closed/f", 1);
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  std::filesystem::permissions(folder.path() / "closed", std::filesystem::perms::none);
  std::optional<test::OrdinaryUser> user(std::in_place);
  const auto failed = uses.open(FileTree::open(folder.path()).value(), DirectoryUse::CountWait::waits);
  user.reset();
  std::filesystem::permissions(folder.path() / "closed", std::filesystem::perms::owner_all);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::local_read_failed);
}

}  // namespace
}  // namespace udtcat::files
