// SPDX-License-Identifier: Apache-2.0
/// The help as a shell's completion reads it, too.
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tool/program/completion.hpp"
#include "trees/command/commands.hpp"

namespace udtcat::trees {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string offered(tool::Words words) { return tool::completion(commands(), std::move(words)); }

TEST(TreeHelp, HasOperandsThatAreCompleted) {
  EXPECT_THAT(offered({"send", ""}), AllOf(HasSubstr(":file\n"), Not(HasSubstr(":directory"))));
  EXPECT_THAT(offered({"send", "photos", ""}), AllOf(HasSubstr(":file\n"), HasSubstr(":host\n")));
  EXPECT_THAT(offered({"receive", "-l", "9000", ""}), HasSubstr(":directory\n"));
  EXPECT_THAT(offered({"receive", ""}), HasSubstr(":host\n"));
  EXPECT_EQ(offered({"verify", ""}), ":file\n");
  EXPECT_EQ(offered({"verify", "manifest", ""}), ":directory\n");
}

TEST(TreeHelp, HasOptionsWhoseValuesAreCompleted) {
  EXPECT_EQ(offered({"send", "--serve", ""}), ":directory\n");
  EXPECT_EQ(offered({"send", "--files-from", ""}), ":file\n");
  EXPECT_EQ(offered({"receive", "--into", ""}), ":directory\n");
  EXPECT_EQ(offered({"receive", "--manifest", ""}), ":file\n");
}

}  // namespace
}  // namespace udtcat::trees
