// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/option_file.hpp"

#include <algorithm>

#include <gmock/gmock.h>

namespace udtcat::tool {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string error_of(std::string_view text) {
  const auto lines = read_option_lines(text, "f");
  return lines ? "" : lines.error().message();
}

Result<std::string> word_of(std::string_view text) {
  return option_word(read_option_lines(text, "f").value()[0], "f").map(&OptionWord::word);
}

TEST(OptionLines, AreNamesAndValues) {
  const auto lines = read_option_lines("\n# a comment\n Rate = 400M\r\nssh 'ssh -p 2' # mine\npush", "f").value();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].name, "rate");
  EXPECT_THAT(lines[0].values, ElementsAre("400M"));
  EXPECT_EQ(lines[0].number, 3U);
  EXPECT_THAT(lines[1].values, ElementsAre("ssh -p 2"));
  EXPECT_THAT(lines[2].values, IsEmpty());
  EXPECT_EQ(lines[2].number, 5U);
}

TEST(OptionLines, WithControlCharactersAreRefusedByTheirNumber) {
  for (const std::string& bad :
       {std::string("rate\n\x01", 6), std::string("a\n\0", 3), std::string("a\nb\x7f"), std::string("a\nb \x1b[2J")})
    EXPECT_THAT(error_of(bad), HasSubstr("f:2: it has a control character"));
}

TEST(OptionLines, KeepTheirQuotedHashes) {
  const auto lines = read_option_lines("exec 'grep \"#\" f' # mine\nas \"#1\"\nas = '#2'\n# as #3", "f").value();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[0].values, ElementsAre("grep \"#\" f"));
  EXPECT_THAT(lines[1].values, ElementsAre("#1"));
  EXPECT_THAT(lines[2].values, ElementsAre("#2"));
}

TEST(OptionLines, WithAnOpenQuoteAreNamed) {
  for (const char* bad : {"a\nexec 'x", "a\nexec \"x # y", "a\nexec 'x' y'"})
    EXPECT_EQ(error_of(bad), "f:2: a quote is not closed") << bad;
}

TEST(OptionLines, AreNotTooMany) {
  std::string text;
  for (std::size_t i = 0; i < kMaxOptionLines; ++i) text += "v\n";
  EXPECT_EQ(error_of(text), "");
  EXPECT_THAT(error_of(text + "v"), HasSubstr("f:4097"));
}

TEST(OptionLines, AreWordsOfACommandLine) {
  EXPECT_EQ(word_of("rate 400M"), "--rate=400M");
  EXPECT_EQ(word_of("push"), "--push");
  EXPECT_EQ(word_of("to db=localhost:5432"), "--to=db=localhost:5432");
  EXPECT_EQ(word_of("4"), "-4");
  for (const char* bad : {"rate 1G 2G", "--rate 1G", "v", "6 yes", "help", "version", "check"})
    EXPECT_THAT(word_of(bad).error().message(), HasSubstr("f:1: ")) << bad;
}

/// Minds "bad" wherever it stands.
Status read_some(const Words& words) {
  return std::ranges::count(words, "bad") == 0 ? Status{} : misplaced("bad", "is wrong");
}

TEST(LineToBlame, IsTheOneThatLeadsToTheError) {
  const Error error = read_some({"bad"}).error();
  EXPECT_EQ(line_to_blame(error, {{"a", 1}, {"bad", 5}, {"c", 7}}, read_some), 5U);
  EXPECT_EQ(line_to_blame(error, {{"a", 1}, {"c", 7}}, read_some), std::nullopt);
}

TEST(LineThatSays, NamesTheValueThatAnErrorIsAbout) {
  const std::vector<OptionWord> options{{"--key-file=k", 2}, {"--peers=/a/k", 3}, {"--push", 4}, {"--as=", 5}};
  EXPECT_EQ(line_that_says({Errc::bad_argument, "key file \"k\"", "no such file"}, options), 2U);
  EXPECT_EQ(line_that_says({Errc::bad_argument, "read /a/k", "no such file"}, options), 3U);
  EXPECT_EQ(line_that_says({Errc::bad_argument, "read /b/k", "no such file"}, options), std::nullopt);
  EXPECT_EQ(line_that_says({Errc::bad_argument, "", ""}, options), std::nullopt);
}

}  // namespace
}  // namespace udtcat::tool
