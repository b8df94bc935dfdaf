// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/flow_window.hpp"

#include <gtest/gtest.h>

namespace udtcat::transport::native {
namespace {

Acknowledgement ack_of(std::uint32_t window_packets, std::optional<std::uint32_t> free_kib = std::nullopt) {
  Acknowledgement ack;
  ack.window_packets = window_packets;
  if (free_kib) ack.extended = ExtendedReport{.free_kib = *free_kib};
  return ack;
}

TEST(FlowWindow, IsThatOfTheHandshakeAtFirst) {
  const FlowWindow window(10);
  EXPECT_TRUE(window.takes(9, UINT64_MAX));
  EXPECT_FALSE(window.takes(10, 0));
}

TEST(FlowWindow, CountsPacketsFromTheAcknowledgedOne) {
  FlowWindow window(10);
  window.on_ack(7, 7000, ack_of(5));
  EXPECT_TRUE(window.takes(11, UINT64_MAX)) << "a plain peer counts no bytes";
  EXPECT_FALSE(window.takes(12, 0));
  EXPECT_EQ(window.packets(), 5U);
}

TEST(FlowWindow, CountsBytesWhereThePeerReportsThem) {
  FlowWindow window(10);
  window.on_ack(7, 7000, ack_of(5, 2));
  EXPECT_TRUE(window.takes(8, 7000 + 2048));
  EXPECT_FALSE(window.takes(8, 7000 + 2049));
}

TEST(FlowWindow, IgnoresLightAndOldAcks) {
  FlowWindow window(10);
  window.on_ack(7, 7000, ack_of(5));
  window.on_ack(9, 9000, {});
  window.on_ack(6, 6000, ack_of(100));
  EXPECT_FALSE(window.takes(12, 0));
}

TEST(FlowWindow, IsBoundedWhateverThePeerSays) {
  FlowWindow window(UINT32_MAX);
  EXPECT_FALSE(window.takes(kMaxWindowPackets, 0));
  window.on_ack(1, 1000, ack_of(UINT32_MAX));
  EXPECT_FALSE(window.takes(kMaxWindowPackets + 1, 0));
}

}  // namespace
}  // namespace udtcat::transport::native
