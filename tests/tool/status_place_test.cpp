// SPDX-License-Identifier: Apache-2.0
#include "tool/status_place.hpp"

#include <cstdlib>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "support/temp_dir.hpp"

namespace udtcat::tool {
namespace {

using testing::Contains;

class StatusPlace : public testing::Test {
 protected:
  StatusPlace() {
    ::unsetenv("RUNTIME_DIRECTORY");
    ::setenv("XDG_RUNTIME_DIR", folder_.path().c_str(), 1);
  }
  ~StatusPlace() override { ::unsetenv("XDG_RUNTIME_DIR"); }

  const test::TempDir folder_;
  const std::string name_ = "/" + std::to_string(::getpid()) + ".sock";
};

TEST_F(StatusPlace, IsTheUsersOwnDirectoryWhichIsMade) {
  EXPECT_EQ(own_status_socket(), folder_.path().string() + "/udtcat" + name_);
  struct stat about {};
  ASSERT_EQ(::stat((folder_ / "udtcat").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777U, 0700U);
}

TEST_F(StatusPlace, IsBeforeAllTheOneThatAManagerGives) {
  ::setenv("RUNTIME_DIRECTORY", (folder_.path().string() + ":/other").c_str(), 1);
  EXPECT_EQ(own_status_socket(), folder_.path().string() + name_);
  ::unsetenv("RUNTIME_DIRECTORY");
}

TEST_F(StatusPlace, IsNoneWhereOthersCouldReplaceTheSocket) {
  ASSERT_EQ(::mkdir((folder_ / "udtcat").c_str(), 0700), 0);
  ASSERT_EQ(::chmod((folder_ / "udtcat").c_str(), 0777), 0);
  EXPECT_EQ(own_status_socket(), std::nullopt);
  ::setenv("RUNTIME_DIRECTORY", (folder_ / "none" / "such").c_str(), 1);
  EXPECT_EQ(own_status_socket(), std::nullopt);
  ::unsetenv("RUNTIME_DIRECTORY");
}

TEST_F(StatusPlace, IsNotInADirectoryOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  constexpr uid_t kSomebody = 12345;
  ASSERT_EQ(::chown(folder_.path().c_str(), kSomebody, static_cast<gid_t>(-1)), 0);
  EXPECT_EQ(own_status_socket(), "/run/udtcat" + name_);
  EXPECT_FALSE(folder_.has("udtcat"));
}

TEST_F(StatusPlace, IsSearchedForSocketsOnly) {
  const std::string path = own_status_socket().value();
  boost::asio::io_context io;
  const boost::asio::local::stream_protocol::acceptor bound(io, path);
  folder_.write("udtcat/2.sock", "no socket");
  EXPECT_THAT(status_sockets(), Contains(path));
  EXPECT_THAT(status_sockets(), testing::Not(Contains(folder_.path().string() + "/udtcat/2.sock")));
  EXPECT_FALSE(remove_left_over(path)) << "somebody listens";
}

}  // namespace
}  // namespace udtcat::tool
