// SPDX-License-Identifier: Apache-2.0
#include "rsh/user_shell.hpp"

#include <gmock/gmock.h>

namespace udtcat::rsh {
namespace {

using testing::ElementsAre;

TEST(UserShells, RunACommandLineAsSshdDoes) {
  const auto launch = launch_for_user(ssh::RunCommand{"echo 'a  b'; exit 7"}, 0);
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->program.front(), '/');
  EXPECT_THAT(launch->words,
              ElementsAre(launch->program.substr(launch->program.rfind('/') + 1), "-c", "echo 'a  b'; exit 7"));
  EXPECT_EQ(launch->core_limit_bytes, 0U);
}

TEST(UserShells, KnowNoOtherSubsystems) {
  EXPECT_TRUE(launch_for_user(ssh::RunSubsystem{"sftp"}, 0));
  const auto launch = launch_for_user(ssh::RunSubsystem{"netconf"}, 0);
  ASSERT_FALSE(launch);
  EXPECT_NE(launch.error().message().find("netconf"), std::string::npos);
}

}  // namespace
}  // namespace udtcat::rsh
