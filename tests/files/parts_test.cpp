// SPDX-License-Identifier: Apache-2.0
#include "files/parts.hpp"

#include <filesystem>
#include <future>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/whole_io.hpp"
#include "files/words.hpp"

namespace udtcat::files {
namespace {

using Held = Parts::Held;
using testing::HasSubstr;

class TransferParts : public testing::Test {
 protected:
  [[nodiscard]] FileTree tree() const { return FileTree::open(folder.path()).value(); }
  [[nodiscard]] Result<Parts> open(const std::string& job = "1", Held held = Held::refuse) const {
    return Parts::open(tree(), job, held);
  }
  [[nodiscard]] std::string cause() const { return open().error().message(); }

  Folder folder;
};

TEST_F(TransferParts, AreFoundAgainByTheSameTransfer) {
  {
    const auto parts = open().value();
    ASSERT_TRUE(write_whole_at(parts.take("a/b").value(), 0, bytes_of("half"), "a/b"));
    EXPECT_FALSE(parts.of("a").exists());
  }
  const auto again = open().value();
  EXPECT_EQ(again.of("a/b").size(), 4U);
  EXPECT_FALSE(open("2").value().of("a/b").exists()) << "another one's are its own";
}

TEST_F(TransferParts, LieWhereOnlyThisAccountCanWrite) {
  const auto parts = open().value();
  ASSERT_TRUE(parts.take("f"));
  struct stat status {};
  for (const char* name : {".udtcat-parts", ".udtcat-parts/1"}) {
    ASSERT_EQ(::lstat((folder / name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0700U) << name;
  }
  EXPECT_EQ(parts.of("f").look().value()->st_mode & 07777U, 0600U);
}

TEST_F(TransferParts, AreKeptInNoPlaceOfSomebodyElse) {
  std::filesystem::create_directory(folder / "elsewhere");
  std::filesystem::create_directory_symlink("elsewhere", folder / ".udtcat-parts");
  EXPECT_FALSE(open()) << "a link";
  std::filesystem::remove(folder / ".udtcat-parts");
  folder.write(".udtcat-parts", {});
  EXPECT_FALSE(open()) << "a file";
  std::filesystem::remove(folder / ".udtcat-parts");
  std::filesystem::create_directory(folder / ".udtcat-parts");
  ASSERT_EQ(::chmod((folder / ".udtcat-parts").c_str(), 0770), 0);
  EXPECT_THAT(cause(), HasSubstr("others may write to it"));
  ASSERT_EQ(::chmod((folder / ".udtcat-parts").c_str(), 0700), 0);
  std::filesystem::create_directory_symlink("../elsewhere", folder / ".udtcat-parts/1");
  EXPECT_FALSE(open()) << "a link within";
  EXPECT_TRUE(std::filesystem::is_empty(folder / "elsewhere"));
}

TEST_F(TransferParts, BelongToOneProcessAtATime) {
  auto first = std::make_optional(open().value());
  EXPECT_EQ(open().error().code, Errc::out_of_resources);
  EXPECT_TRUE(open("2")) << "another transfer";
  auto waiting = std::async(std::launch::async, [&] { return open("1", Held::wait).has_value(); });
  first.reset();
  EXPECT_TRUE(waiting.get());
}

TEST_F(TransferParts, AreMadeAnewForAProcessThatHasWaitedForTheirRemoval) {
  auto first = std::make_optional(open().value());
  auto waiting = std::async(std::launch::async, [&] {
    const auto parts = open("1", Held::wait);
    return parts && parts->take("f").has_value() && parts->of("f").exists();
  });
  first->remove();
  first.reset();
  EXPECT_TRUE(waiting.get());
  EXPECT_TRUE(folder.has(".udtcat-parts/1"));
}

TEST_F(TransferParts, ThatAreNoFilesOfTheirOwnAreReplaced) {
  folder.write("precious", bytes_of("precious"));
  const auto parts = open().value();
  const FileLocation part = parts.of("f");
  ASSERT_TRUE(part.make_hard_link(tree().locate("precious", Errc::local_read_failed).value()));
  ASSERT_TRUE(write_whole_at(parts.take("f").value(), 0, bytes_of("x"), "f"));
  EXPECT_EQ(folder.read("precious"), bytes_of("precious"));
  EXPECT_EQ(part.size(), 1U);
  part.remove();
  ASSERT_TRUE(part.make_node(S_IFIFO | 0600, 0));
  EXPECT_TRUE(parts.take("f"));
  EXPECT_EQ(part.size(), 0U);
  part.remove();
  ASSERT_TRUE(part.make_symbolic_link("../../precious"));
  ASSERT_TRUE(write_whole_at(parts.take("f").value(), 0, bytes_of("xy"), "f")) << "a link is not followed";
  EXPECT_EQ(folder.read("precious"), bytes_of("precious"));
  EXPECT_EQ(part.size(), 2U);
}

TEST_F(TransferParts, AreRemovedWithTheirFoldersUnlessAnotherHasSome) {
  const auto other = std::make_optional(open("2").value());
  const auto parts = open().value();
  ASSERT_TRUE(parts.take("f"));
  parts.remove();
  EXPECT_FALSE(folder.has(".udtcat-parts/1"));
  EXPECT_TRUE(folder.has(".udtcat-parts/2"));
  other->remove();
  EXPECT_FALSE(folder.has(".udtcat-parts"));
}

}  // namespace
}  // namespace udtcat::files
