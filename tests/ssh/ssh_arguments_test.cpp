// SPDX-License-Identifier: Apache-2.0
/// SshArguments of ssh_invocation.
#include "ssh/ssh_invocation.hpp"

#include <gmock/gmock.h>

namespace udtcat::ssh {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Words = std::vector<std::string>;

SshArguments read(const Words& words) { return parse_ssh_arguments(words).value(); }

TEST(SshArguments, AreOptionsDestinationAndCommand) {
  const auto words = read({"-p", "2222", "-oUser=me", "host", "rsync", "--server", "-e.x", "."});
  EXPECT_THAT(words.options, ElementsAre("-p", "2222", "-o", "User=me"));
  EXPECT_EQ(words.destination, "host");
  EXPECT_EQ(words.command, "rsync --server -e.x .");
  EXPECT_EQ(words.only_ssh, "");
}

TEST(SshArguments, MayBeClustered) {
  const auto words = read({"-4qxp2222", "host", "true"});
  EXPECT_THAT(words.options, ElementsAre("-4", "-q", "-x", "-p", "2222"));
  EXPECT_TRUE(words.quiet);
}

TEST(SshArguments, HaveOptionsBehindTheDestinationToo) {
  const auto words = read({"host", "-p", "22", "ls", "-l"});
  EXPECT_THAT(words.options, ElementsAre("-p", "22"));
  EXPECT_EQ(words.command, "ls -l");
}

TEST(SshArguments, NameASubsystemAsScpDoes) {
  const auto words = read({"-x", "-oRequestTTY=no", "-s", "--", "host", "sftp"});
  EXPECT_TRUE(words.is_subsystem);
  EXPECT_EQ(words.command, "sftp");
  EXPECT_THAT(words.options, ElementsAre("-x", "-o", "RequestTTY=no"));
}

TEST(SshArguments, TakeNoOptionBehindTwoDashes) {
  const auto words = read({"-4", "--", "host", "-oProxyCommand=x", "y"});
  EXPECT_THAT(words.options, ElementsAre("-4"));
  EXPECT_EQ(words.command, "-oProxyCommand=x y") << "as ssh has it";
}

TEST(SshArguments, DropTheOptionsThatWeFollow) {
  const auto words = read({"-n", "-T", "host", "true"});
  EXPECT_TRUE(words.without_input);
  EXPECT_THAT(words.options, IsEmpty());
}

TEST(SshArguments, LeaveRequestsWithoutACommandToSsh) {
  for (const Words& words : {Words{"host"}, Words{"-t", "host", "top"}, Words{"-N", "host"}, Words{"-W", "a:1", "host"},
                             Words{"-V"}, Words{"-G", "host"}, Words{"-fn", "host", "x"}, Words{}})
    EXPECT_NE(read(words).only_ssh, "") << testing::PrintToString(words);
}

TEST(SshArguments, NameAnOptionThatSshDoesNotHave) {
  const auto unknown = parse_ssh_arguments({"-u", "host", "true"});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message().find("-u"), std::string::npos);
  EXPECT_FALSE(parse_ssh_arguments({"-p"})) << "without its value";
}

TEST(SshArguments, NameAnOptionThatHasTheHostForItsValue) {
  for (const Words& words : {Words{"-o", "host", "rsync", "--server"}, Words{"-ohost", "host", "true"}}) {
    const auto lost = parse_ssh_arguments(words);
    ASSERT_FALSE(lost);
    EXPECT_NE(lost.error().message().find("option \"-o host\": needs NAME=VALUE"), std::string::npos)
        << lost.error().message();
  }
  EXPECT_TRUE(parse_ssh_arguments({"-o", "BatchMode yes", "host", "true"})) << "as in a file of ssh's";
}

TEST(SshArguments, SayWhichTakeTheNextWord) {
  EXPECT_TRUE(takes_next_word("-p"));
  EXPECT_TRUE(takes_next_word("-vp"));
  EXPECT_FALSE(takes_next_word("-p22"));
  EXPECT_FALSE(takes_next_word("-v"));
}

}  // namespace
}  // namespace udtcat::ssh
