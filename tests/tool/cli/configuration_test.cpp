// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/configuration.hpp"

#include <gmock/gmock.h>

namespace udtcat::tool {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* kService = R"(# a service
to = localhost:5432

listen 192.0.2.1:9000   # all of it
 Rate 400M
exec 'grep "#" f'
4
push
)";

Words words_of(std::string_view text) { return Configuration::parse(text, "f").value().words(); }
std::string parse_error(std::string_view text) {
  const auto file = Configuration::parse(text, "f");
  return file ? "" : file.error().message();
}

TEST(Configuration, IsACommandLine) {
  EXPECT_THAT(Configuration::parse(kService, "f").value().command(), IsEmpty());
  EXPECT_THAT(words_of(kService), ElementsAre("--listen", "192.0.2.1:9000", "--to=localhost:5432", "--rate=400M",
                                              "--exec=grep \"#\" f", "-4", "--push"));
  EXPECT_THAT(words_of("port 1\r\nhost h"), ElementsAre("h", "1"));
  EXPECT_THAT(words_of("host [::1]:1"), ElementsAre("[::1]:1"));
  EXPECT_THAT(words_of("to db=localhost:1\nas '#2'"), ElementsAre("--to=db=localhost:1", "--as=#2"));
  EXPECT_THAT(words_of("from 1=a\nfrom 2=b"), ElementsAre("--from=1=a", "--from=2=b")) << "an option may repeat";
}

TEST(Configuration, NamesACommandOfSeveralWords) {
  EXPECT_THAT(Configuration::parse("command gridftp serve\nroot /", "f").value().command(),
              ElementsAre("gridftp", "serve"));
}

TEST(Configuration, SaysWhichLineIsNone) {
  for (const char* bad :
       {"\nlisten ''", "\nlisten 1 2", "\nhost -v", "\ncommand", "command x\ncommand y", "port 1\nport 2", "\nrate 1 2",
        "\n--rate 1", "\nv", "\n6 yes", "\nhelp", "\nversion", "\ncheck"})
    EXPECT_THAT(parse_error(bad), StartsWith("f:2: \"")) << bad;
  for (const char* bad : {"\nexec 'x", "\nexec \"x # y", "\nexec 'x' y'"})
    EXPECT_EQ(parse_error(bad), "f:2: a quote is not closed") << bad;
  for (const std::string& bad :
       {std::string("rate\n\x01"), std::string("as\n\0", 4), std::string("as\nb\x7f"), std::string("as\nb \x1b[2J")})
    EXPECT_THAT(parse_error(bad), HasSubstr("f:2: it has a control character"));
}

TEST(Configuration, SaysWhereItListensOrConnectsToInOneWay) {
  for (const char* bad : {"listen 1\nhost h:1", "port 1\nlisten 1", "\nhost h", "\nport 1", "listen",
                          "listen\nhost h:1", "listen\nlisten 1\nvia p"})
    EXPECT_THAT(parse_error(bad), StartsWith("f: ")) << bad;
}

TEST(Configuration, NamesNoPortWithAMeetingPlace) {
  EXPECT_THAT(words_of("listen\nvia meet.example.org\nto localhost:5432"),
              ElementsAre("--listen", "--via=meet.example.org", "--to=localhost:5432"));
  EXPECT_THAT(words_of("via meet.example.org\nfrom 5432"), ElementsAre("--via=meet.example.org", "--from=5432"));
}

TEST(Configuration, IsBounded) {
  std::string text;
  for (std::size_t i = 0; i < 4096; ++i) text += "push\n";
  EXPECT_EQ(parse_error(text), "");
  EXPECT_THAT(parse_error(text + "push"), HasSubstr("f:4097"));
}

TEST(Configuration, IsTotalAtEveryTruncation) {
  const std::string text = kService + std::string("command 'gridftp serve\nhost \"h");
  for (std::size_t length = 0; length <= text.size(); ++length)
    EXPECT_THAT(parse_error(text.substr(0, length)), testing::AnyOf("", StartsWith("f:"))) << length;
}

std::string path_in(Words words) {
  const auto path = take_config_path(words);
  return path ? path->value_or("none") : path.error().message();
}

TEST(ConfigPath, IsTakenFromTheBeginningOfTheCommandLine) {
  EXPECT_EQ(path_in({"--config", "f"}), "f");
  EXPECT_EQ(path_in({"--config=f", "-v"}), "f");
  EXPECT_EQ(path_in({"-l", "9", "--config", "f"}), "none");
  EXPECT_EQ(path_in({"--configure"}), "none");
  EXPECT_THAT(path_in({"--config"}), HasSubstr("needs a value"));
  EXPECT_THAT(path_in({"--config", "f", "9000"}), HasSubstr("allowed: options"));
}

}  // namespace
}  // namespace udtcat::tool
