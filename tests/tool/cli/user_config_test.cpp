// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/user_config.hpp"

#include <gmock/gmock.h>

namespace udtcat::tool {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kConfig = R"(
# for every host
memory 64MiB

Host backup* !backup9
  rate = 400M
  require-udp
Host *.example.org
  Rate 1G
  memory 1GiB
)";

const std::vector<Words> kAll{{}, {"rsh"}, {"gridftp", "get"}};

Words words_for(const Words& command, std::string_view text, const std::string& host) {
  return words_of(read_user_config(text, kAll, command, host).value());
}
Words words_of(std::string_view text, const std::string& host) { return words_for({"rsh"}, text, host); }

TEST(UserConfigs, SayWhereAnOptionStands) {
  const auto options = read_user_config(kConfig, kAll, {"rsh"}, "backup1").value();
  ASSERT_EQ(options.size(), 3U);
  EXPECT_EQ(options[0].line, 3);
  EXPECT_EQ(options[2].line, 7);
}

TEST(UserConfigs, GiveAHostItsOptions) {
  EXPECT_THAT(words_of(kConfig, "other"), ElementsAre("--memory=64MiB"));
  EXPECT_THAT(words_of(kConfig, "backup1"), ElementsAre("--memory=64MiB", "--rate=400M", "--require-udp"));
  EXPECT_THAT(words_of(kConfig, "backup9"), ElementsAre("--memory=64MiB"));
  EXPECT_THAT(words_of("", "x"), IsEmpty());
}

TEST(UserConfigs, TakeQuotedValuesAndComments) {
  for (const char* text : {"ssh \"ssh -F c\" # mine", "ssh='ssh -F c'", " ssh = 'ssh -F c'#no"})
    EXPECT_THAT(words_of(text, "x"), ElementsAre(testing::StartsWith("--ssh=ssh -F c"))) << text;
  EXPECT_THAT(words_of("udp-host=a=b", "x"), ElementsAre("--udp-host=a=b"));
  EXPECT_THAT(words_of("# all of it\n  #rate 1G", "x"), IsEmpty());
}

TEST(UserConfigs, TakeTheFirstOfAName) {
  EXPECT_THAT(words_of(kConfig, "BACKUP.example.org"), ElementsAre("--memory=64MiB", "--rate=400M", "--require-udp"));
}

constexpr const char* kCommands = R"(
port 1
Command pipe
idle-timeout 5m
Host *.org !b.org
rate 1G
Command gridftp get
parallelism 8
Command rsh
push
)";

TEST(UserConfigs, GiveEachCommandItsOwn) {
  EXPECT_THAT(words_for({"rsh"}, kCommands, "a.org"), ElementsAre("--port=1", "--push"));
  EXPECT_THAT(words_for({}, kCommands, "a.org"), ElementsAre("--idle-timeout=5m", "--rate=1G"));
  EXPECT_THAT(words_for({}, kCommands, "b.org"), ElementsAre("--idle-timeout=5m"));
  EXPECT_THAT(words_for({"gridftp", "get"}, kCommands, "x"), ElementsAre("--parallelism=8"));
  EXPECT_THAT(words_for({"status"}, kCommands, "x"), IsEmpty());
}

TEST(UserConfigs, MatchNoHostForAListener) {
  EXPECT_THAT(words_for({}, "Command pipe\nHost *\nrate 1G\n", ""), IsEmpty());
  EXPECT_THAT(words_for({}, kCommands, ""), ElementsAre("--idle-timeout=5m"));
}

TEST(UserConfigs, NameTheCommandThatMayBeMeant) {
  const auto options = read_user_config("Command gridftp gte\n", kAll, {}, "");
  ASSERT_FALSE(options);
  EXPECT_THAT(options.error().message(),
              testing::AllOf(testing::HasSubstr("config:1: there is no command \"gridftp gte\""),
                             testing::EndsWith("; did you mean gridftp get?")));
}

TEST(UserConfigs, NameTheLineThatCannotBeParsed) {
  for (const char* text : {"\nrate 1G 2G", "\nHost", "\n--require-udp", "\n-- x", "\nCommand", "\nCommand gridftp"}) {
    const auto options = read_user_config(text, kAll, {"rsh"}, "x");
    ASSERT_FALSE(options);
    EXPECT_NE(options.error().message().find("config:2"), std::string::npos);
  }
}

TEST(HostPatterns, MatchAsSshsDo) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("a?c*", "abcdef"));
  EXPECT_TRUE(matches("*a*b*c", "xxaxbxbxc"));
  EXPECT_TRUE(matches("HOST", "host"));
  EXPECT_FALSE(matches("a?c", "ac"));
  EXPECT_FALSE(matches("*.org", "example.org.uk"));
  EXPECT_FALSE(matches("", "x"));
}

}  // namespace
}  // namespace udtcat::tool
