// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/echo_log.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

EchoLog::Entry entry(std::uint32_t timestamp_us, std::uint64_t delivered_bytes = 0) {
  EchoLog::Entry made{timestamp_us, kStart, {}};
  made.snapshot.delivered_bytes = delivered_bytes;
  return made;
}

TEST(EchoLog, FindsThePacketSentAtThatTime) {
  EchoLog log;
  for (std::uint32_t time = 0; time < 100; time += 10) log.on_sent(entry(time, time));
  ASSERT_TRUE(log.find(50));
  EXPECT_EQ(log.find(50)->snapshot.delivered_bytes, 50U);
  EXPECT_FALSE(log.find(55)) << "nothing left then";
  EXPECT_FALSE(log.find(40)) << "older than one that was found";
}

TEST(EchoLog, FindsTheLastOfPacketsSentAtOneTime) {
  EchoLog log;
  log.on_sent(entry(7, 1));
  log.on_sent(entry(7, 2));
  EXPECT_EQ(log.find(7)->snapshot.delivered_bytes, 2U);
}

TEST(EchoLog, FindsAcrossTheWrapOfTimestamps) {
  EchoLog log;
  log.on_sent(entry(0xffff'fff0, 1));
  log.on_sent(entry(5, 2));
  log.on_sent(entry(20, 3));
  EXPECT_EQ(log.find(5)->snapshot.delivered_bytes, 2U);
  EXPECT_EQ(log.find(20)->snapshot.delivered_bytes, 3U);
}

TEST(EchoLog, ForgetsTheOldestOfMany) {
  EchoLog log;
  for (std::uint32_t time = 0; time < 10'000; ++time) log.on_sent(entry(time));
  EXPECT_FALSE(log.find(1'000));
  EXPECT_TRUE(log.find(9'000));
}

TEST(EchoLog, IsEmptyAfterClear) {
  EchoLog log;
  log.on_sent(entry(7));
  log.clear();
  EXPECT_FALSE(log.find(7));
}

}  // namespace
}  // namespace udtcat::transport::native
