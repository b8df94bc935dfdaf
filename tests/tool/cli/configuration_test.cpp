// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/configuration.hpp"

#include <gmock/gmock.h>

#include "pipe/pipe_options.hpp"

namespace udtcat::tool {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* kService = R"(# a service
to = localhost:5432
listen 192.0.2.1:9000
rate 400M
4
)";

std::string parse_error(std::string_view text) {
  const auto file = Configuration::parse(text, "f");
  return file ? "" : file.error().message();
}

/// The complaint of udtcat about a file and what follows it.
std::string complaint(std::string_view text, const Words& more = {}) {
  const auto file = Configuration::parse(text, "f").value();
  const auto read = [](const Words& words) -> Status {
    const auto options = pipe::parse_pipe_options(words);
    return options ? Status{} : tl::unexpected(options.error());
  };
  Words words = file.words();
  words.insert(words.end(), more.begin(), more.end());
  const Status status = read(words);
  return status ? "" : file.blame(status.error(), read).message();
}

TEST(Configuration, IsACommandLine) {
  const auto file = Configuration::parse(kService, "f").value();
  EXPECT_THAT(file.command(), IsEmpty());
  EXPECT_THAT(file.words(), ElementsAre("--listen", "192.0.2.1:9000", "--to=localhost:5432", "--rate=400M", "-4"));
  EXPECT_EQ(complaint(kService), "");
  EXPECT_THAT(Configuration::parse("port 1\nhost h", "f").value().words(), ElementsAre("h", "1"));
  EXPECT_THAT(Configuration::parse("host [::1]:1", "f").value().words(), ElementsAre("[::1]:1"));
}

TEST(Configuration, NamesACommandOfSeveralWords) {
  EXPECT_THAT(Configuration::parse("command gridftp serve\nroot /", "f").value().command(),
              ElementsAre("gridftp", "serve"));
}

TEST(Configuration, KeepsOptionsThatStandSeveralTimes) {
  EXPECT_THAT(Configuration::parse("from 1=a\nfrom 2=b", "f").value().words(), ElementsAre("--from=1=a", "--from=2=b"));
}

TEST(Configuration, NamesALineThatItCannotParse) {
  for (const char* bad : {"\nlisten", "\nlisten 1 2", "\nhost -v", "\ncommand", "command x\ncommand y",
                          "port 1\nport 2", "\nrate 1 2", "\n--rate 1"})
    EXPECT_THAT(parse_error(bad), StartsWith("f:2: \"")) << bad;
  for (const char* bad :
       {"listen 1\nhost h:1", "port 1\nlisten 1", "\nhost h", "\nport 1", "\nhost 'h", "host h:1\nas #\nas '"})
    EXPECT_THAT(parse_error(bad), testing::MatchesRegex("f:[23]: .*")) << bad;
}

TEST(Configuration, NamesTheLineThatItsCommandRefuses) {
  EXPECT_THAT(complaint("listen 9\nto x:1\nrate fast"),
              AllOf(StartsWith("f:3: --rate \"fast\""), HasSubstr("allowed")));
  EXPECT_THAT(complaint("listen 99999"), StartsWith("f:1: -l \"99999\""));
  EXPECT_THAT(complaint("host h\nport 1\nto x:0"), StartsWith("f:3: --to"));
  EXPECT_THAT(complaint("host h\nport 1\nrate", {"-v"}), "f:3: option --rate: needs a value");
  EXPECT_THAT(complaint("rate 1M"), StartsWith("f: no arguments"));
}

TEST(Configuration, IsNotBlamedForTheWordsBehindIt) {
  EXPECT_THAT(complaint(kService, {"--lanes", "0"}), StartsWith("--lanes \"0\""));
  EXPECT_EQ(complaint(kService, {"--rate", "1G"}), "");
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
