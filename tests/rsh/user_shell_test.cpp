// SPDX-License-Identifier: Apache-2.0
#include "rsh/user_shell.hpp"

#include <filesystem>

#include <gmock/gmock.h>

#include "tool/shell_words.hpp"

namespace udtcat::rsh {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(UserShells, RunACommandLineAsSshdDoes) {
  const auto launch = launch_for_user(RunCommand{"echo 'a  b'; exit 7"}, 0);
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->program.front(), '/');
  EXPECT_THAT(launch->words,
              ElementsAre(launch->program.substr(launch->program.rfind('/') + 1), "-c", "echo 'a  b'; exit 7"));
  EXPECT_EQ(launch->core_limit_bytes, 0U);
}

TEST(UserShells, RunTheSubsystemTreesByThisVeryProgram) {
  const auto launch = launch_for_user(RunSubsystem{"trees"}, 0);
  ASSERT_TRUE(launch);
  const std::string own = std::filesystem::read_symlink("/proc/self/exe").string();
  EXPECT_EQ(launch->words.at(2), "exec " + tool::quoted(own) + " trees-server");
}

TEST(UserShells, CannotHaveTheSubsystemTreesWithoutUdtcat) {
  EXPECT_TRUE(needs_udtcat(RunSubsystem{"trees"}));
  EXPECT_FALSE(needs_udtcat(RunSubsystem{"sftp"}) || needs_udtcat(RunCommand{"trees"}));
  const auto line = command_line_of(RunSubsystem{"trees"});
  ASSERT_FALSE(line);
  EXPECT_THAT(line.error().message(), HasSubstr("--push"));
  EXPECT_TRUE(command_line_of(RunSubsystem{"sftp"}));
}

TEST(UserShells, KnowNoOtherSubsystems) {
  const auto launch = launch_for_user(RunSubsystem{"netconf"}, 0);
  ASSERT_FALSE(launch);
  EXPECT_NE(launch.error().message().find("netconf"), std::string::npos);
}

}  // namespace
}  // namespace udtcat::rsh
