// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/report_frame.hpp"

#include <vector>

#include <gtest/gtest.h>

#include <udtcat/why_diagnosis.hpp>

#include "lib/connection/frame.hpp"

namespace udtcat::connection {
namespace {

using namespace std::chrono_literals;

/// Each value is another.
EndStats distinct() {
  EndStats made;
  made.elapsed = 1us;
  made.bytes_sent = 2;
  made.bytes_received = 3;
  for (std::size_t i = 0; i < kStallReasons; ++i) made.stalled[i] = std::chrono::microseconds(4 + i);
  made.consuming = 12us;
  made.event_loop = {13us, 14us};
  made.cipher = {15us, 16us};
  made.cipher_threads = 17;
  made.path_rate = BitRate::from_bits_per_second(18);
  made.least_rtt = 19us;
  made.rtt_sum = 20us;
  made.rtt_samples = 21;
  made.packets_sent = 22;
  made.packets_lost = 23;
  made.packet_bytes = 26;
  made.socket_drops = 27;
  made.socket_buffer_bytes = 28;
  made.socket_wanted_bytes = 29;
  made.rate_cap = BitRate::from_bits_per_second(30);
  made.memory_bytes = 31;
  made.queued_lost = 32;
  made.trains_off = 33;
  made.loss_by_rate = {34, 35, 36, 37, 38};
  made.loss_behind_loss = {39, 40, 41, 42, 43};
  made.path_changes = 44;
  return made;
}

std::vector<std::byte> encoded(const EndStats& ends) {
  std::vector<std::byte> body(kReportBytes);
  encode_report(ends, body);
  return body;
}

TEST(Report, HasItsNumbersInTheOrderOfTheSpec) {
  const auto body = encoded(distinct());
  for (std::size_t i = 0; i < body.size(); ++i)
    EXPECT_EQ(std::to_integer<std::size_t>(body[i]), i % 8 == 7 && i / 8 != 23 && i / 8 != 24 ? i / 8 + 1 : 0)
        << "byte " << i;
}

TEST(Report, IsReadBackAsItWasWritten) {
  const auto body = encoded(distinct());
  const auto read = decode_report(body);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(encoded(*read), body);
  EXPECT_EQ(read->least_rtt, 19us);
  EXPECT_EQ(read->stalled[static_cast<std::size_t>(StallReason::peer_window)], 11us);
}

TEST(Report, KnowsNoRoundTripBeforeOneWasMeasured) {
  EXPECT_EQ(decode_report(encoded(EndStats()))->least_rtt, std::nullopt);
}

/// Proves: stream.report-limit
TEST(Report, IsRefusedAtEachTruncationAndBeyondTheLimit) {
  const auto body = encoded(distinct());
  for (std::size_t bytes = 0; bytes < kLeastReportBytes; ++bytes)
    EXPECT_FALSE(decode_report(std::span(body).first(bytes)).has_value()) << bytes;
  EXPECT_TRUE(decode_report(std::vector<std::byte>(1024)).has_value()) << "a later version's";
  EXPECT_FALSE(decode_report(std::vector<std::byte>(1025)).has_value());
  EXPECT_LE(body.size(), 1024U);
  EXPECT_FALSE(decode_report(std::span(body).first(30 * 8)).has_value());
}

TEST(Report, OfAnEarlierVersionHasNoneOfTheNumbersBehind) {
  const auto body = encoded(distinct());
  for (std::size_t bytes = kLeastReportBytes; bytes < body.size(); ++bytes) {
    const auto read = decode_report(std::span(body).first(bytes));
    ASSERT_TRUE(read.has_value()) << bytes;
    EXPECT_EQ(read->memory_bytes, 31U);
    EXPECT_EQ(read->queued_lost, bytes < 32 * sizeof(std::uint64_t) ? 0U : 32U);
    EXPECT_EQ(read->trains_off, bytes < 33 * sizeof(std::uint64_t) ? 0U : 33U);
    EXPECT_EQ(read->loss_by_rate.sent_by_lost, bytes < 38 * sizeof(std::uint64_t) ? 0U : 38U);
    EXPECT_EQ(read->path_changes, 0U);
  }
}

TEST(Report, OfABoasterGivesAVerdictThatCanBeShown) {
  const std::vector<std::byte> body(kReportBytes, std::byte{0xff});
  const auto read = decode_report(body);
  ASSERT_TRUE(read.has_value());
  EXPECT_GT(read->elapsed.count(), 0);
  for (const bool sends : {true, false}) {
    BothEndsStats ends{.here = {.elapsed = 1s}, .there = *read};
    (sends ? ends.here.bytes_sent : ends.here.bytes_received) = 1000;
    const auto diagnosis = diagnose(ends);
    EXPECT_LE(diagnosis.lost, 1);
    EXPECT_LE(diagnosis.busy, 1);
  }
}

}  // namespace
}  // namespace udtcat::connection
