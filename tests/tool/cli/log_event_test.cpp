// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/log_event.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace udtcat::tool {
namespace {

class LogEventTest : public testing::Test {
 protected:
  LogEventTest() {
    set_event_sink([this](const LogEvent& event) { seen.push_back(event); });
  }
  ~LogEventTest() override { set_event_sink({}); }
  std::vector<LogEvent> seen;
};

TEST_F(LogEventTest, ComesToTheSinkUntilThereIsNone) {
  log_event({.kind = EventKind::reload, .message = "read"});
  set_event_sink({});
  log_event({.kind = EventKind::reload, .message = "read again"});
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].message, "read");
}

TEST_F(LogEventTest, IsObservedOnceWhetherItIsToldOrNot) {
  std::vector<std::string> observed;
  set_event_observer([&](const LogEvent& event) { observed.push_back(event.message); });
  log_event({.message = "both"});
  observe_event({.message = "untold"});
  tell_event({.message = "told"});
  set_event_observer({});
  log_event({.message = "after"});
  EXPECT_EQ(observed, (std::vector<std::string>{"both", "untold"}));
  EXPECT_EQ(seen.size(), 3U);
}

/// Proves: logs.text-lengths
TEST_F(LogEventTest, HasPrintableTextOfBoundedLength) {
  log_event({.kind = EventKind::transfer,
             .message = "a\nforged line",
             .peer = std::string(10'000, 'p'),
             .object = "\x1b[2J" + std::string(10'000, 'x'),
             .result = "\xff"});
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].message, "a?forged line");
  EXPECT_EQ(seen[0].object.value_or("").substr(0, 5), "?[2Jx");
  EXPECT_LE(seen[0].object.value_or("").size(), 512U);
  EXPECT_EQ(seen[0].result, "?");
  EXPECT_LE(seen[0].peer.value_or("").size(), 512U);
  EXPECT_FALSE(seen[0].address);
  log_event({.kind = EventKind::refused, .message = std::string(10'000, 'm'), .reason = std::string(10'000, 'r')});
  EXPECT_LE(seen[1].message.size(), 2048U);
  EXPECT_LE(seen[1].reason.value_or("").size(), 512U);
}

}  // namespace
}  // namespace udtcat::tool
