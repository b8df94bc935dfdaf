// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/user_files.hpp"

#include <cerrno>
#include <cstdlib>
#include <thread>

#include <gmock/gmock.h>
#include <pwd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/failing_calls.hpp"
#include "support/temp_dir.hpp"

namespace udtcat::tool {
namespace {

using std::filesystem::perms;
using testing::HasSubstr;

class UserFiles : public testing::Test {
 protected:
  static perms mode_of(const std::filesystem::path& path) { return std::filesystem::status(path).permissions(); }
  const test::TempDir home_;
};

TEST_F(UserFiles, AreWhereTheUserHasHisConfiguration) {
  ::setenv("HOME", "/home/alice", 1);
  ::unsetenv("XDG_CONFIG_HOME");
  EXPECT_EQ(user_file("peers"), "/home/alice/.config/udtcat/peers");
  ::setenv("XDG_CONFIG_HOME", "/etc/alice", 1);
  EXPECT_EQ(user_file("peers"), "/etc/alice/udtcat/peers");
  ::setenv("XDG_CONFIG_HOME", "relative", 1);
  EXPECT_EQ(user_file("peers"), "/home/alice/.config/udtcat/peers");
  ::unsetenv("XDG_CONFIG_HOME");
}

TEST_F(UserFiles, AreInTheHomeOfPasswdWithoutHOME) {
  ::unsetenv("XDG_CONFIG_HOME");
  for (const bool is_empty : {false, true}) {
    is_empty ? ::setenv("HOME", "", 1) : ::unsetenv("HOME");
    EXPECT_EQ(user_home(), ::getpwuid(::geteuid())->pw_dir);
    EXPECT_EQ(user_file("key"), *user_home() + "/.config/udtcat/key");
  }
  ::setenv("HOME", "/home/alice", 1);
}

TEST_F(UserFiles, OfTheCacheAreInTheCacheDirectory) {
  ::setenv("HOME", "/home/alice", 1);
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(user_cache("proofs"), "/home/alice/.cache/udtcat/proofs");
  ::setenv("XDG_CACHE_HOME", "/var/cache/alice", 1);
  EXPECT_EQ(user_cache("proofs"), "/var/cache/alice/udtcat/proofs");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(user_cache("proofs"), "/home/alice/.cache/udtcat/proofs");
  ::unsetenv("XDG_CACHE_HOME");
}

TEST_F(UserFiles, HaveADirectoryForThisUserOnly) {
  const auto file = home_ / "a/b/peers";
  ASSERT_TRUE(make_private_directory_of(file));
  EXPECT_EQ(mode_of(file.parent_path()), perms(0700));
  EXPECT_TRUE(make_private_directory_of(file)) << "it is there already";
}

TEST_F(UserFiles, AreMissingOnlyWhereNothingHasTheName) {
  EXPECT_TRUE(is_missing(home_ / "peers"));
  std::filesystem::create_symlink("nothing", home_ / "peers");
  EXPECT_FALSE(is_missing(home_ / "peers"));
  EXPECT_FALSE(is_missing(home_ / std::string(300, 'n'))) << "it cannot be looked at";
}

TEST_F(UserFiles, AreNotOverwritten) {
  const auto file = home_ / "secret";
  ASSERT_TRUE(write_new_file(file, "one", 0600));
  EXPECT_EQ(mode_of(file), perms(0600));
  const auto again = write_new_file(file, "two", 0600);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message(), HasSubstr("not overwritten"));
  EXPECT_EQ(test::read_file(file), "one");
}

TEST_F(UserFiles, GetWholeLines) {
  const auto file = home_ / "new/lines";
  const auto line = [](const char* text) { return [text]() -> Result<std::optional<std::string>> { return text; }; };
  ASSERT_TRUE(append_line(file, line("one")));
  EXPECT_EQ(mode_of(file), perms(0600));
  home_.write("new/lines", "one\ntwo without an end");
  ASSERT_TRUE(append_line(file, line("three")));
  EXPECT_EQ(test::read_file(file), "one\ntwo without an end\nthree\n");
}

TEST_F(UserFiles, GetALineOfItsOwnWhereTheLastOneCannotBeRead) {
  const auto file = home_.write("lines", "one");
  std::thread([&] {
    test::fail_calls({SYS_pread64}, EIO);
    EXPECT_TRUE(append_line(file, []() -> Result<std::optional<std::string>> { return "two"; }));
  }).join();
  EXPECT_EQ(test::read_file(file), "one\ntwo\n");
}

TEST_F(UserFiles, AreReportedWhereTheNamesOfNewDirectoriesCannotBeStored) {
  std::thread([&] {
    test::fail_calls({SYS_fsync}, EIO);
    EXPECT_FALSE(make_private_directory_of(home_ / "new/own/key"));
  }).join();
}

TEST_F(UserFiles, GetNoLineWhereTheCallerWantsNone) {
  const auto file = home_.write("lines", "one\n");
  EXPECT_TRUE(append_line(file, []() -> Result<std::optional<std::string>> { return std::nullopt; }));
  EXPECT_FALSE(append_line(file, []() -> Result<std::optional<std::string>> { return fail(Errc::bad_argument, "x"); }));
  EXPECT_EQ(test::read_file(file), "one\n");
}

}  // namespace
}  // namespace udtcat::tool
