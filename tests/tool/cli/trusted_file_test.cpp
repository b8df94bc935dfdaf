// SPDX-License-Identifier: Apache-2.0
/// read_trusted_file() of user_files.
#include "tool/cli/user_files.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <unistd.h>

#include "support/temp_dir.hpp"

namespace udtcat::tool {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class TrustedFile : public testing::Test {
 protected:
  void write(const std::string& text, mode_t mode) const { folder_.write("list", text, mode); }
  void expect_refused(const char* why) const {
    const auto text = read_trusted_file(path_);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, Errc::bad_argument);
    EXPECT_THAT(text.error().message(), AllOf(HasSubstr(path_.string()), HasSubstr(why)));
  }

  const test::TempDir folder_;
  const std::filesystem::path path_ = folder_ / "list";
};

TEST_F(TrustedFile, IsReadAlsoWhereOthersMayReadIt) {
  for (const mode_t mode : {0600U, 0644U, 0755U}) {
    write("one\ntwo\n", mode);
    EXPECT_EQ(read_trusted_file(path_), "one\ntwo\n");
  }
}

TEST_F(TrustedFile, ThatOthersCanWriteToIsRefused) {
  for (const mode_t mode : {0620U, 0602U, 0666U}) {
    write("", mode);
    expect_refused("chmod go-w");
  }
}

TEST_F(TrustedFile, OfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  write("", 0644);
  constexpr uid_t kSomebody = 12345;
  ASSERT_EQ(::chown(path_.c_str(), kSomebody, static_cast<gid_t>(-1)), 0);
  expect_refused("chown it to you or root");
}

TEST_F(TrustedFile, ThatIsNoRegularFileIsRefusedAtOnce) {
  expect_refused("no such file");
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  expect_refused("no regular file");
  EXPECT_FALSE(read_trusted_file("/"));
}

TEST_F(TrustedFile, ThatIsHugeIsRefused) {
  write(std::string((1 << 20) + 1, 'x'), 0600);
  expect_refused("larger");
}

}  // namespace
}  // namespace udtcat::tool
