// SPDX-License-Identifier: Apache-2.0
#include "tool/status/status_place.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <list>
#include <optional>
#include <utility>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "support/ordinary_user.hpp"
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
  EXPECT_EQ(own_status_socket().has_value(), false);
  ::setenv("RUNTIME_DIRECTORY", (folder_ / "none" / "such").c_str(), 1);
  EXPECT_EQ(own_status_socket().has_value(), false);
  ::unsetenv("RUNTIME_DIRECTORY");
}

TEST_F(StatusPlace, IsSaidToBeClosedToAGroupWhereOneOfItsDirectoriesIs) {
  const std::string outer = folder_ / "outer";
  const std::string inner = outer + "/inner";
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  for (const std::string& each : {outer, inner}) {
    ASSERT_EQ(::mkdir(each.c_str(), 0755), 0);
    ASSERT_EQ(::chmod(each.c_str(), 0755), 0);
  }
  constexpr gid_t kOther = 61'234;
  EXPECT_EQ(directory_closed_to(inner + "/1.sock", kOther), std::nullopt);
  ASSERT_EQ(::chmod(outer.c_str(), 0710), 0);
  EXPECT_EQ(directory_closed_to(inner + "/1.sock", kOther), outer);
  struct stat about {};
  ASSERT_EQ(::stat(outer.c_str(), &about), 0);
  EXPECT_EQ(directory_closed_to(inner + "/1.sock", about.st_gid), std::nullopt);
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

TEST_F(StatusPlace, OfNoUserHidesThoseOfTheOthers) {
  const StatusRoots roots{folder_ / "run", folder_ / "users", folder_ / "tmp"};
  boost::asio::io_context io;
  std::list<boost::asio::local::stream_protocol::acceptor> bound;
  for (const auto& [user, count] :
       {std::pair("1", kMaxSocketsOfDirectory + 10), std::pair<const char*, std::size_t>("2", 1)}) {
    const std::string directory = roots.users + "/" + user + "/udtcat/";
    std::filesystem::create_directories(directory);
    for (std::size_t i = 0; i < count; ++i) bound.emplace_back(io, directory + std::to_string(i) + ".sock");
  }
  const auto found = status_sockets(roots);
  EXPECT_EQ(found.size(), kMaxSocketsOfDirectory + 1);
  EXPECT_THAT(found, Contains(roots.users + "/2/udtcat/0.sock"));
}

/// An ordinary user of whom no login manager knows: su, cron, setsid.
class StatusPlaceOfAnOrdinaryUser : public StatusPlace {
 protected:
  StatusPlaceOfAnOrdinaryUser() {
    ::unsetenv("XDG_RUNTIME_DIR");
    for (const std::string& each : {roots_.services, roots_.users, roots_.everybody})
      EXPECT_EQ(::mkdir(each.c_str(), 0777) | ::chmod(each.c_str(), 01777), 0) << each;
    EXPECT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
    user_.emplace();
    number_ = std::to_string(::geteuid());
    in_tmp_ = roots_.everybody + "/udtcat-" + number_;
  }
  ~StatusPlaceOfAnOrdinaryUser() override { user_.reset(); }

  const StatusRoots roots_{folder_ / "run", folder_ / "users", folder_ / "tmp"};
  std::optional<test::OrdinaryUser> user_;
  std::string number_;
  std::string in_tmp_;
};

TEST_F(StatusPlaceOfAnOrdinaryUser, IsOfServicesWhereRootGivesItOrItIsHis) {
  EXPECT_TRUE(is_place_of_services(roots_.services + "/db/1.sock", roots_));
  EXPECT_FALSE(is_place_of_services(roots_.services + "-of-mallory/1.sock", roots_));
  EXPECT_FALSE(is_place_of_services(roots_.everybody + "/none/1.sock", roots_));
  EXPECT_FALSE(is_place_of_services("/etc/passwd", roots_)) << "it is root's";
  const std::string own = roots_.everybody + "/1.sock";
  std::ofstream(own) << "";
  EXPECT_TRUE(is_place_of_services(own, roots_));
}

TEST_F(StatusPlaceOfAnOrdinaryUser, IsHisRunDirectoryThoughTheEnvironmentDoesNotNameIt) {
  const std::string own = roots_.users + "/" + number_;
  ASSERT_EQ(::mkdir(own.c_str(), 0700), 0);
  EXPECT_EQ(own_status_socket(roots_), own + "/udtcat" + name_);
}

TEST_F(StatusPlaceOfAnOrdinaryUser, IsElseADirectoryInTmpThatIsMadeForHimAlone) {
  EXPECT_EQ(own_status_socket(roots_), in_tmp_ + name_);
  EXPECT_EQ(own_status_socket(roots_), in_tmp_ + name_) << "it is there";
  struct stat about {};
  ASSERT_EQ(::lstat(in_tmp_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777U, 0700U);
}

TEST_F(StatusPlaceOfAnOrdinaryUser, IsNoDirectoryInTmpThatIsOpenToOthersOrLeadsElsewhere) {
  ASSERT_EQ(::mkdir(in_tmp_.c_str(), 0700) | ::chmod(in_tmp_.c_str(), 0701), 0);
  const auto refused = own_status_socket(roots_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "make " + in_tmp_ + ": it is there, and not this user's alone");
  const std::string aside = roots_.everybody + "/aside";
  ASSERT_EQ(::chmod(in_tmp_.c_str(), 0700) | ::rename(in_tmp_.c_str(), aside.c_str()), 0);
  ASSERT_EQ(::symlink(aside.c_str(), in_tmp_.c_str()), 0);
  EXPECT_FALSE(own_status_socket(roots_));
}

TEST_F(StatusPlaceOfAnOrdinaryUser, IsNoneThatAnotherHasTaken) {
  user_.reset();
  if (::geteuid() != 0) GTEST_SKIP() << "only root is somebody else here";
  ASSERT_EQ(::mkdir(in_tmp_.c_str(), 0700), 0);
  EXPECT_THAT(status_sockets(roots_), testing::IsEmpty());
  user_.emplace();
  EXPECT_FALSE(own_status_socket(roots_));
}

TEST_F(StatusPlaceOfAnOrdinaryUser, IsSearchedByHimAndByRoot) {
  const std::string path = own_status_socket(roots_).value();
  boost::asio::io_context io;
  const boost::asio::local::stream_protocol::acceptor bound(io, path);
  EXPECT_THAT(status_sockets(roots_), testing::ElementsAre(path));
  user_.reset();
  EXPECT_THAT(status_sockets(roots_), testing::ElementsAre(path));
}

TEST_F(StatusPlaceOfAnOrdinaryUser, IsNotSearchedWhereTheNameIsAnotherUsers) {
  const std::string wrong = roots_.everybody + "/udtcat-12345";
  ASSERT_EQ(::mkdir(wrong.c_str(), 0700), 0);
  boost::asio::io_context io;
  const boost::asio::local::stream_protocol::acceptor bound(io, wrong + "/1.sock");
  EXPECT_THAT(status_sockets(roots_), testing::IsEmpty());
  user_.reset();
  EXPECT_THAT(status_sockets(roots_), testing::IsEmpty());
}

}  // namespace
}  // namespace udtcat::tool
