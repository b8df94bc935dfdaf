// SPDX-License-Identifier: Apache-2.0
#include "rsh/user_shell.hpp"

#include <gmock/gmock.h>

namespace udtcat::rsh {
namespace {

using testing::ElementsAre;

TEST(UserShells, RunACommandLineAsSshdDoes) {
  const auto program = launch_for_user(ssh::RunCommand{"echo 'a  b'; exit 7"}, 0);
  ASSERT_TRUE(program);
  EXPECT_EQ(program->program.front(), '/');
  EXPECT_THAT(program->words,
              ElementsAre(program->program.substr(program->program.rfind('/') + 1), "-c", "echo 'a  b'; exit 7"));
  EXPECT_EQ(program->core_limit_bytes, 0U);
}

TEST(UserShells, KnowNoOtherSubsystems) {
  EXPECT_TRUE(launch_for_user(ssh::RunSubsystem{"sftp"}, 0));
  const auto program = launch_for_user(ssh::RunSubsystem{"netconf"}, 0);
  ASSERT_FALSE(program);
  EXPECT_NE(program.error().message().find("netconf"), std::string::npos);
}

}  // namespace
}  // namespace udtcat::rsh
