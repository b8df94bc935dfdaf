// SPDX-License-Identifier: Apache-2.0
#include "tool/program/completion.hpp"

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipe/commands.hpp"

namespace udtcat::tool {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string offered(Words words) { return completion(pipe::commands(), std::move(words)); }

TEST(Completion, BeginsWithTheCommandsAndHosts) {
  EXPECT_THAT(offered({""}), AllOf(HasSubstr("status\n"), HasSubstr("keygen\n"), HasSubstr(":host\n")));
  EXPECT_THAT(offered({}), HasSubstr("status\n"));
  EXPECT_THAT(offered({"st"}), AllOf(HasSubstr("status\n"), Not(HasSubstr("keygen"))));
}

TEST(Completion, OffersTheOptionsThatBeginSo) {
  EXPECT_EQ(offered({"--send"}), "--send-only\n");
  EXPECT_EQ(offered({"keygen", "--"}), "--pair\n");
  EXPECT_EQ(offered({"status", "--j"}), "--json\n");
  EXPECT_EQ(offered({"--no-such"}), "");
}

TEST(Completion, OffersTheValuesOfAnOptionInBothItsForms) {
  for (const Words& words : {Words{"--protect", "s"}, Words{"--protect=s"}}) EXPECT_EQ(offered(words), "safe\n");
  EXPECT_EQ(offered({"--transport", ""}), "auto\nnative\nlibudt\ntcp\n");
  EXPECT_EQ(offered({"-k", ""}), ":file\n");
  EXPECT_EQ(offered({"--key-file="}), ":file\n");
  EXPECT_EQ(offered({"--exec", "z"}), ":command\n");
  EXPECT_EQ(offered({"--rate", ""}), "") << "a number";
}

TEST(Completion, KnowsWhichWordsAreOperands) {
  EXPECT_EQ(offered({"--rate", "1M", "-v", "h"}), ":host\n") << "a value is no operand";
  EXPECT_EQ(offered({"host", "9"}), "") << "a port is a number";
  EXPECT_EQ(offered({"--", "-"}), ":host\n");
  EXPECT_EQ(offered({"status", ""}), "") << "it has no operands";
}

TEST(Completion, OffersBehindHelpTheTopicsAndTheCommands) {
  EXPECT_THAT(offered({"he"}), HasSubstr("help\n"));
  EXPECT_THAT(offered({"help", ""}), AllOf(HasSubstr("keys\n"), HasSubstr("forward\n"), HasSubstr("config\n"),
                                           HasSubstr("exit\n"), HasSubstr("pipe\n"), HasSubstr("status\n"),
                                           HasSubstr("keygen\n"), Not(HasSubstr(":host")), Not(HasSubstr("help"))));
  EXPECT_EQ(offered({"help", "conf"}), "config\n");
  EXPECT_EQ(offered({"help", "--"}), "");
  EXPECT_EQ(offered({"help", "keys", ""}), "") << "one topic is all";
  EXPECT_EQ(offered({"help", "9000", "--send"}), offered({"host", "9000", "--send"})) << "a host of that name";
}

}  // namespace
}  // namespace udtcat::tool
