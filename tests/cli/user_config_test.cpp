#include "cli/user_config.hpp"

#include <gmock/gmock.h>

namespace udtcat::cli {
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

TEST(UserConfigs, GiveAHostItsOptions) {
  EXPECT_THAT(read_user_config(kConfig, "other").value(), ElementsAre("--memory=64MiB"));
  EXPECT_THAT(read_user_config(kConfig, "backup1").value(),
              ElementsAre("--memory=64MiB", "--rate=400M", "--require-udp"));
  EXPECT_THAT(read_user_config(kConfig, "backup9").value(), ElementsAre("--memory=64MiB"));
  EXPECT_THAT(read_user_config("", "x").value(), IsEmpty());
}

TEST(UserConfigs, TakeQuotedValuesAndComments) {
  for (const char* text : {"ssh \"ssh -F c\" # mine", "ssh='ssh -F c'", " ssh = 'ssh -F c'#no"})
    EXPECT_THAT(read_user_config(text, "x").value(), ElementsAre(testing::StartsWith("--ssh=ssh -F c"))) << text;
  EXPECT_THAT(read_user_config("udp-host=a=b", "x").value(), ElementsAre("--udp-host=a=b"));
  EXPECT_THAT(read_user_config("# all of it\n  #rate 1G", "x").value(), IsEmpty());
}

TEST(UserConfigs, LetTheFirstOfANameCount) {
  EXPECT_THAT(read_user_config(kConfig, "BACKUP.example.org").value(),
              ElementsAre("--memory=64MiB", "--rate=400M", "--require-udp"));
}

TEST(UserConfigs, NameTheLineThatIsNone) {
  for (const char* text : {"\nrate 1G 2G", "\nHost", "\n--require-udp", "\n-- x"}) {
    const auto options = read_user_config(text, "x");
    ASSERT_FALSE(options);
    EXPECT_NE(options.error().message().find("line 2"), std::string::npos);
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
}  // namespace udtcat::cli
