// SPDX-License-Identifier: Apache-2.0
#include "tool/status/status_group.hpp"

#include <array>

#include <gmock/gmock.h>
#include <grp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/bridge/descriptor.hpp"
#include "support/ordinary_user.hpp"

namespace udtcat::tool {
namespace {

using testing::HasSubstr;

TEST(StatusGroup, IsFoundByItsNameAndByItsNumber) {
  const ::group* const own = ::getgrgid(::getegid());
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(find_own_group("--status-group", own->gr_name), ::getegid());
  EXPECT_EQ(find_own_group("--status-group", std::to_string(::getegid())), ::getegid());
}

TEST(StatusGroup, IsRefusedWhereThereIsNone) {
  for (const char* name : {"no-such-group", "", "-1", "4294967295", "12x"}) {
    const auto none = find_own_group("--status-group", name);
    ASSERT_FALSE(none) << name;
    EXPECT_EQ(none.error().code, Errc::bad_argument);
    EXPECT_THAT(none.error().message(), HasSubstr("this host has no such group"));
  }
}

TEST(StatusGroup, IsRefusedToWhoIsNotInIt) {
  constexpr gid_t kForeign = 61'234;
  const test::OrdinaryUser nobody;
  if (::group_member(kForeign) != 0) GTEST_SKIP() << "this user is in every group";
  const auto refused = find_own_group("--status-group", std::to_string(kForeign));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("this user is not in that group"));
}

TEST(StatusGroup, OfAPeerIsAmongThoseOfItsProcess) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const bridge::Descriptor one(ends[0]);
  const bridge::Descriptor other(ends[1]);
  std::array<gid_t, 256> groups{};
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  for (int i = 0; i < count; ++i) EXPECT_TRUE(is_peer_in_group(ends[0], groups.at(static_cast<std::size_t>(i))));
  EXPECT_FALSE(is_peer_in_group(ends[0], 61'234));
}

}  // namespace
}  // namespace udtcat::tool
