// SPDX-License-Identifier: Apache-2.0
#include "lib/core/log.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <udtcat/log.hpp>

namespace udtcat::core {
namespace {

TEST(Log, IsSilentUntilItHasASink) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  log().critical("nobody hears this");
  EXPECT_EQ(testing::internal::GetCapturedStderr() + testing::internal::GetCapturedStdout(), "");
}

TEST(Log, GivesTheProgramsSinkTheLevelsItWants) {
  std::vector<std::pair<LogLevel, std::string>> lines;
  set_log_sink(LogLevel::info, [&](LogLevel level, std::string_view text) { lines.emplace_back(level, text); });
  log().debug("a packet came");
  log().info("a peer came");
  log().warn("{} was turned away", "a peer");
  set_log_sink(LogLevel::trace, {});
  log().warn("nobody hears this");
  EXPECT_THAT(lines, testing::ElementsAre(std::pair(LogLevel::info, "a peer came"),
                                          std::pair(LogLevel::warn, "a peer was turned away")));
}

}  // namespace
}  // namespace udtcat::core
