// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/shell_words.hpp"

#include <gmock/gmock.h>

namespace udtcat::tool {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SplitWords, KnowsQuotesAsAShellDoes) {
  EXPECT_THAT(split_words(" ssh  -p 2222 ").value(), ElementsAre("ssh", "-p", "2222"));
  EXPECT_THAT(split_words("ssh -i '/a b/c' \"d e\"f \\ g ''").value(),
              ElementsAre("ssh", "-i", "/a b/c", "d ef", " g", ""));
  for (const char* open : {"open 'ended", "open \"ended\\\"", "'"}) EXPECT_EQ(split_words(open), std::nullopt) << open;
  EXPECT_THAT(split_words("").value(), IsEmpty());
}

TEST(ShellWords, AreSplitAsTheyWereQuoted) {
  for (const char* word : {"plain", "", "two words", "it's", "$HOME `x` \\ \"", "'"})
    EXPECT_THAT(split_words(quoted(word)).value(), ElementsAre(word));
}

TEST(ShellWords, EndAtACommentWhereThereMayBeOne) {
  for (const char* text : {"a b # c 'd", "a b\t#", "a b #'"})
    EXPECT_THAT(split_words(text, Comments::allowed).value(), ElementsAre("a", "b")) << text;
  EXPECT_THAT(split_words("a#b '#c' \\#d ''#e", Comments::allowed).value(), ElementsAre("a#b", "#c", "#d", "#e"));
  EXPECT_THAT(split_words("a #b").value(), ElementsAre("a", "#b"));
}

}  // namespace
}  // namespace udtcat::tool
