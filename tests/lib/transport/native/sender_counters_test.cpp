// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/sender_counters.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

EndStats stats_of(const SenderCounters& counters, TimePoint now) {
  EndStats end;
  counters.add_to(end, now, 0ms);
  return end;
}

TEST(SenderCounters, TellThatAPacketIsSentAgainOrLostWithAQueue) {
  SenderCounters counters;
  for (int i = 0; i < 3; ++i) counters.on_sent(kStart, false);
  counters.on_sent(kStart, true);
  counters.on_lost(kStart, false);
  counters.on_lost(kStart, true);
  EXPECT_EQ(counters.stats().packets_sent, 4U);
  EXPECT_EQ(counters.stats().packets_resent, 1U);
  EXPECT_EQ(stats_of(counters, kStart).packets_lost, 2U);
  EXPECT_EQ(stats_of(counters, kStart).queued_lost, 1U);
}

TEST(SenderCounters, ChargeTheTimeToTheReasonThatStands) {
  SenderCounters counters;
  counters.set_stall_reason(kStart, StallReason::path);
  counters.set_stall_reason(kStart + 2s, std::nullopt);
  const auto end = stats_of(counters, kStart + 10s);
  EXPECT_EQ(end.stalled[static_cast<std::size_t>(StallReason::path)], 2s);
}

TEST(SenderCounters, CountPaths) {
  SenderCounters counters;
  counters.on_new_path();
  EXPECT_EQ(stats_of(counters, kStart).path_changes, 1U);
}

}  // namespace
}  // namespace udtcat::transport::native
