// SPDX-License-Identifier: Apache-2.0
#include "tool/shell_words.hpp"

#include <gmock/gmock.h>

namespace udtcat::tool {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SplitWords, KnowsQuotesAsAShellDoes) {
  EXPECT_THAT(split_words(" ssh  -p 2222 "), ElementsAre("ssh", "-p", "2222"));
  EXPECT_THAT(split_words("ssh -i '/a b/c' \"d e\"f \\ g ''"), ElementsAre("ssh", "-i", "/a b/c", "d ef", " g", ""));
  EXPECT_THAT(split_words("open 'ended"), ElementsAre("open", "ended"));
  EXPECT_THAT(split_words(""), IsEmpty());
}

TEST(ShellWords, AreSplitAsTheyWereQuoted) {
  for (const char* word : {"plain", "", "two words", "it's", "$HOME `x` \\ \"", "'"})
    EXPECT_THAT(split_words(quoted(word)), ElementsAre(word));
}

}  // namespace
}  // namespace udtcat::tool
