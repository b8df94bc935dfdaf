// SPDX-License-Identifier: Apache-2.0
#include "ssh/ssh_invocation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

namespace udtcat::ssh {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

SshInvocation call_of(const std::vector<std::string>& arguments, std::vector<std::string> program = {"ssh"}) {
  return {std::move(program), parse_ssh_arguments(arguments).value()};
}

TEST(SshInvocationTest, AsksSshWithTheUsersOptions) {
  EXPECT_EQ(joined(query_argv(call_of({"-p", "22", "-n", "me@far", "ls", "-l"}, {"ssh", "-v"}))),
            "ssh -v -p 22 -G -- me@far");
}

TEST(SshInvocationTest, SaysOfItsLoginAndNoticesADeadPath) {
  EXPECT_EQ(
      joined(script_argv(call_of({"-oPermitLocalCommand=no", "far", "ls"}, {"nice", "/usr/bin/ssh", "-v"}), SshConfig(),
                         "SCRIPT")),
      "nice /usr/bin/ssh -o PermitLocalCommand=yes -o LocalCommand=echo UDTCAT LOGIN 1 -v -o PermitLocalCommand=no "
      "-T -o ServerAliveInterval=15 -o ServerAliveCountMax=8 -- far SCRIPT");
}

TEST(SshInvocationTest, LeavesTheUsersChoicesAlone) {
  SshConfig config;
  config.has_local_command = config.has_alive_interval = true;
  EXPECT_EQ(joined(script_argv(call_of({"far", "ls"}), config, "SCRIPT")), "ssh -T -- far SCRIPT");
  config = {};
  config.has_alive_count_max = true;
  EXPECT_THAT(joined(script_argv(call_of({"far", "ls"}), config, "SCRIPT")), Not(HasSubstr("CountMax")));
}

TEST(SshInvocationTest, NamesNoRemoteCommandToAnSshThatHasNone) {
  SshConfig config;
  EXPECT_THAT(joined(script_argv(call_of({"far", "ls"}), config, "SCRIPT")), Not(HasSubstr("RemoteCommand")));
  config.has_remote_command = true;
  EXPECT_THAT(joined(script_argv(call_of({"far", "ls"}), config, "SCRIPT")), HasSubstr("-o RemoteCommand=none"));
  EXPECT_EQ(joined(script_argv(call_of({"far", "ls"}, {"other"}), std::nullopt, "SCRIPT")), "other -T -- far SCRIPT");
}

TEST(SshInvocationTest, RunsTheUsersCommandAsSshAloneWould) {
  EXPECT_EQ(joined(plain_argv(call_of({"-n", "-i", "key", "far", "echo", "a  b"}), SshConfig())),
            "ssh -i key -T -n -- far echo a  b");
  EXPECT_EQ(joined(plain_argv(call_of({"-s", "far", "sftp"}), std::nullopt)), "ssh -T -s -- far sftp");
}

TEST(SshInvocationTest, KnowsOpensshByItsName) {
  EXPECT_TRUE(is_openssh(call_of({"far", "ls"}, {"sshpass", "-e", "ssh"})));
  EXPECT_FALSE(is_openssh(call_of({"far", "ls"}, {"plink"})));
}

}  // namespace
}  // namespace udtcat::ssh
