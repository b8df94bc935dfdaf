// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/partial_files.hpp"

#include <cerrno>
#include <filesystem>
#include <future>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "files/whole_io.hpp"
#include "support/failing_calls.hpp"
#include "trees/disk/folder.hpp"

namespace udtcat::trees {
namespace {

using testing::HasSubstr;

class TransferParts : public testing::Test {
 protected:
  [[nodiscard]] files::FileTree tree() const { return files::FileTree::open(folder.path()).value(); }
  [[nodiscard]] Result<PartialFiles> open(const std::string& job = "1", const std::function<bool()>& waits = {}) const {
    return PartialFiles::open(tree(), job, waits);
  }
  [[nodiscard]] std::string cause() const { return open().error().message(); }

  Folder folder;
};

TEST_F(TransferParts, AreFoundAgainByTheSameTransfer) {
  {
    const auto parts = open().value();
    ASSERT_TRUE(files::write_whole_at(parts.top().take("a/b").value(), 0, bytes_of("half"), "a/b"));
    EXPECT_FALSE(parts.top().of("a").exists());
  }
  const auto again = open().value();
  EXPECT_EQ(again.top().of("a/b").size(), 4U);
  EXPECT_FALSE(open("2").value().top().of("a/b").exists()) << "another one's are its own";
}

TEST_F(TransferParts, AreRefusedWhereALockOfThisHostsDiskCannotBeHad) {
  for (const int error : {ENOLCK, EIO})
    std::async(std::launch::async, [&, error] {
      test::fail_calls({SYS_flock}, error);
      EXPECT_THAT(cause(), HasSubstr("lock"));
    }).get();
}

TEST_F(TransferParts, ArePrivateToTheAccount) {
  const auto parts = open().value();
  ASSERT_TRUE(parts.top().take("f"));
  struct stat status {};
  for (const char* name : {".udtcat-parts", ".udtcat-parts/1"}) {
    ASSERT_EQ(::lstat((folder / name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0700U) << name;
  }
  EXPECT_EQ(parts.top().of("f").look().value()->st_mode & 07777U, 0600U);
}

TEST_F(TransferParts, AvoidADirectoryOfAnotherAccount) {
  const std::string own = ".udtcat-parts-" + std::to_string(::geteuid());
  std::filesystem::create_directory(folder / "elsewhere");
  std::filesystem::create_directory_symlink("elsewhere", folder / ".udtcat-parts");
  ASSERT_TRUE(open()) << "a link";
  EXPECT_TRUE(folder.has(own + "/1")) << "the next name serves";
  std::filesystem::remove(folder / ".udtcat-parts");
  folder.write(".udtcat-parts", {});
  EXPECT_TRUE(open()) << "a file";
  std::filesystem::remove_all(folder / own);
  std::filesystem::create_directory_symlink("elsewhere", folder / own);
  EXPECT_TRUE(open());
  EXPECT_TRUE(folder.has(own + "-1/1"));
  EXPECT_TRUE(std::filesystem::is_empty(folder / "elsewhere"));
}

TEST_F(TransferParts, AvoidADirectoryThatOthersCanWriteTo) {
  std::filesystem::create_directory(folder / ".udtcat-parts");
  ASSERT_EQ(::chmod((folder / ".udtcat-parts").c_str(), 0770), 0);
  ASSERT_TRUE(open());
  EXPECT_TRUE(std::filesystem::is_empty(folder / ".udtcat-parts"));
  struct stat status {};
  ASSERT_EQ(::lstat((folder / ".udtcat-parts").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0770U) << "it is not ours to change";
}

TEST_F(TransferParts, GetAnotherNameBesideThoseOfAnotherAccount) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  std::filesystem::create_directory(folder / ".udtcat-parts");
  ASSERT_EQ(::chown((folder / ".udtcat-parts").c_str(), 12'345, 12'345), 0);
  ASSERT_TRUE(open());
  EXPECT_TRUE(folder.has(".udtcat-parts-0/1"));
}

TEST_F(TransferParts, LieInADirectoryWithAnotherGroup) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  std::filesystem::create_directories(folder / "shared/below");
  for (const char* name : {"shared", "shared/below"}) {
    ASSERT_EQ(::chown((folder / name).c_str(), 0, 12'345), 0);
    ASSERT_EQ(::chmod((folder / name).c_str(), 02775), 0);
  }
  std::filesystem::create_directory(folder / "own");
  const auto parts = open().value();
  ASSERT_TRUE(parts.folder_for("own").value().take("own/f"));
  EXPECT_TRUE(parts.top().of("own/f").exists());
  ASSERT_TRUE(parts.folder_for("shared/below").value().take("shared/below/f"));
  EXPECT_TRUE(folder.has("shared/.udtcat-parts/1")) << "in the topmost that gives the same";
  EXPECT_EQ(parts.folder_for("shared").value().of("shared/below/f").look().value()->st_gid, 12'345U);
  parts.keep("shared/below/f");
  parts.remove();
  EXPECT_FALSE(folder.has(".udtcat-parts"));
  EXPECT_TRUE(folder.has("shared/.udtcat-parts/1"));
  EXPECT_TRUE(open().value().folder_for("shared").value().of("shared/below/f").exists()) << "for the next transfer";
}

TEST_F(TransferParts, BelongToOneProcessAtATime) {
  auto first = std::make_optional(open().value());
  EXPECT_EQ(open().error().code, Errc::out_of_resources);
  EXPECT_TRUE(open("2")) << "another transfer";
  auto waiting = std::async(std::launch::async, [&] { return open("1", [] { return true; }).has_value(); });
  first.reset();
  EXPECT_TRUE(waiting.get());
}

TEST_F(TransferParts, AreNotWaitedForByATransferThatIsOver) {
  const auto first = open().value();
  int asked = 0;
  EXPECT_EQ(open("1", [&] { return ++asked < 3; }).error().code, Errc::out_of_resources);
  EXPECT_EQ(asked, 3);
}

TEST_F(TransferParts, AreMadeAnewForAProcessThatHasWaitedForTheirRemoval) {
  auto first = std::make_optional(open().value());
  auto waiting = std::async(std::launch::async, [&] {
    const auto parts = open("1", [] { return true; });
    return parts && parts->top().take("f").has_value() && parts->top().of("f").exists();
  });
  first->remove();
  first.reset();
  EXPECT_TRUE(waiting.get());
  EXPECT_TRUE(folder.has(".udtcat-parts/1"));
}

TEST_F(TransferParts, ReplaceALinkThatHasTheirName) {
  folder.write("precious", bytes_of("precious"));
  const auto parts = open().value();
  const files::FileLocation part = parts.top().of("f");
  ASSERT_TRUE(part.make_hard_link(tree().locate("precious", Errc::local_read_failed).value()));
  ASSERT_TRUE(files::write_whole_at(parts.top().take("f").value(), 0, bytes_of("x"), "f"));
  EXPECT_EQ(folder.read("precious"), bytes_of("precious"));
  EXPECT_EQ(part.size(), 1U);
  part.remove();
  ASSERT_TRUE(part.make_node(S_IFIFO | 0600, 0));
  EXPECT_TRUE(parts.top().take("f"));
  EXPECT_EQ(part.size(), 0U);
  part.remove();
  ASSERT_TRUE(part.make_symbolic_link("../../precious"));
  ASSERT_TRUE(files::write_whole_at(parts.top().take("f").value(), 0, bytes_of("xy"), "f")) << "a link is not followed";
  EXPECT_EQ(folder.read("precious"), bytes_of("precious"));
  EXPECT_EQ(part.size(), 2U);
}

TEST_F(TransferParts, AreRemovedWithTheirFoldersUnlessAnotherHasSome) {
  const auto other = std::make_optional(open("2").value());
  const auto parts = open().value();
  ASSERT_TRUE(parts.top().take("f"));
  parts.remove();
  EXPECT_FALSE(folder.has(".udtcat-parts/1"));
  EXPECT_TRUE(folder.has(".udtcat-parts/2"));
  other->remove();
  EXPECT_FALSE(folder.has(".udtcat-parts"));
}

}  // namespace
}  // namespace udtcat::trees
