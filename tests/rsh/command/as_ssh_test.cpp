// SPDX-License-Identifier: Apache-2.0
#include "rsh/command/commands.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

namespace udtcat::rsh {
namespace {

class AsSsh : public testing::Test {
 protected:
  void SetUp() override { ::setenv("UDTCAT_AS_SSH", "rsh --ssh 'ssh -p 2222'", 1); }
  void TearDown() override { ::unsetenv("UDTCAT_AS_SSH"); }
};

TEST_F(AsSsh, TakesTheWordsOfTheEnvironmentOnce) {
  const tool::Words argv{"udtcat", "-oForwardX11 no", "-s", "far", "sftp"};
  EXPECT_EQ(words_as_ssh(argv),
            (tool::Words{"udtcat", "rsh", "--ssh", "ssh -p 2222", "-oForwardX11 no", "-s", "far", "sftp"}));
  EXPECT_EQ(words_as_ssh(argv), std::nullopt) << "ssh's own programs are not meant";
}

TEST_F(AsSsh, LeavesAUsersCommandLineUnchanged) {
  EXPECT_EQ(words_as_ssh({"udtcat", "--version"}), std::nullopt);
  EXPECT_EQ(words_as_ssh({"udtcat"}), std::nullopt);
}

TEST_F(AsSsh, DoesNothingWithoutTheVariable) {
  ::unsetenv("UDTCAT_AS_SSH");
  EXPECT_EQ(words_as_ssh({"udtcat", "-x", "far", "scp"}), std::nullopt);
}

}  // namespace
}  // namespace udtcat::rsh
