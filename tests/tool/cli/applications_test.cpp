// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/applications.hpp"

#include <gtest/gtest.h>

namespace udtcat::tool {
namespace {

TEST(Applications, OfOursHaveACommandThatListensAndOneThatDials) {
  for (const char* ours : {kPipe, kForward, kRsh, kGridftp, kGateway, kDriver, kBench, kTrees}) {
    EXPECT_FALSE(commands_of(ours).listens.empty()) << ours;
    EXPECT_FALSE(commands_of(ours).dials.empty()) << ours;
  }
  EXPECT_EQ(commands_of(kForward).dials, "udtcat HOST PORT --from PLACE");
  EXPECT_TRUE(commands_of("greeter").dials.empty()) << "a stranger's";
}

}  // namespace
}  // namespace udtcat::tool
