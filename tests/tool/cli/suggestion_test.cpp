// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/suggestion.hpp"

#include <gtest/gtest.h>

namespace udtcat::tool {
namespace {

TEST(Distances, CountLettersThatWereLeftOutAddedChangedOrExchanged) {
  EXPECT_EQ(distance("", ""), 0U);
  EXPECT_EQ(distance("", "abc"), 3U);
  EXPECT_EQ(distance("abc", ""), 3U);
  EXPECT_EQ(distance("keygne", "keygen"), 1U);
  EXPECT_EQ(distance("gte", "get"), 1U);
  EXPECT_EQ(distance("recvonly", "recv-only"), 1U);
  EXPECT_EQ(distance("kitten", "sitting"), 3U);
  EXPECT_EQ(distance("abcd", "badc"), 2U);
}

TEST(Distances, AreTheSameBothWays) {
  for (const char* one : {"status", "gridftp", "a", ""})
    for (const char* other : {"statsu", "grdiftp", "b", "rsh"}) EXPECT_EQ(distance(one, other), distance(other, one));
}

TEST(DidYouMean, NamesTheNearestWord) {
  const std::vector<std::string> words{"--recv-only", "--send-only", "--rate", "--retries"};
  EXPECT_EQ(did_you_mean("--recvonly", words), "; did you mean --recv-only?");
  EXPECT_EQ(did_you_mean("--raet", words), "; did you mean --rate?");
}

TEST(DidYouMean, IsSilentWhereNothingIsNear) {
  const std::vector<std::string> words{"keygen", "rsh", "status"};
  for (const char* typed : {"", "send", "x", "frobnicate", "127.0.0.1"})
    EXPECT_EQ(did_you_mean(typed, words), "") << typed;
  EXPECT_EQ(did_you_mean(std::string(1'000'000, 'k'), words), "");
  EXPECT_EQ(did_you_mean("key", {}), "");
}

TEST(DidYouMean, TakesTheBeginningOfAWord) {
  EXPECT_EQ(did_you_mean("stat", {"send", "status"}), "; did you mean status?");
  EXPECT_EQ(did_you_mean("sen", {"receive", "sendmail"}), "") << "too little to tell";
}

}  // namespace
}  // namespace udtcat::tool
