// SPDX-License-Identifier: Apache-2.0
#include "tool/status/figures.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace udtcat::tool {
namespace {

TEST(Figures, SayThatNothingHadToBeMoved) {
  const Sample end{.stats = {}, .elapsed = std::chrono::milliseconds(1920)};
  EXPECT_EQ(summary_line(end), "nothing had to be moved, in 1.92 s");
}

using namespace std::chrono_literals;

Sample sample(std::uint64_t sent, std::uint64_t received, std::chrono::nanoseconds elapsed) {
  Sample made{.elapsed = elapsed};
  made.stats.bytes_sent = sent;
  made.stats.bytes_received = received;
  made.stats.packets_sent = 1000;
  made.stats.packets_lost = 5;
  made.stats.rtt = 75'120us;
  return made;
}

TEST(Summary, HasTheRateOfTheWholeInBytesAndInBits) {
  EXPECT_EQ(summary_line(sample(125'000'000, 0, 2s)),
            "125 MB sent in 2.00 s, 62.5 MB/s (500 Mbit/s), RTT 75.1 ms, 0.50 % lost");
}

TEST(Summary, ShowsNoRoundTripBeforeOneWasMeasured) {
  Sample end = sample(1'000'000, 0, 1s);
  end.stats.rtt.reset();
  EXPECT_EQ(summary_line(end), "1.00 MB sent in 1.00 s, 1.00 MB/s (8.00 Mbit/s), 0.50 % lost");
}

TEST(Summary, NeverShowsMoreLostThanAll) {
  Sample odd = sample(1, 0, 1s);
  odd.stats.packets_lost = 5000;
  EXPECT_NE(summary_line(odd).find("100.00 % lost"), std::string::npos);
}

TEST(PayloadText, LeavesOutTheWayOnWhichNothingMoved) {
  EXPECT_EQ(payload_text(sample(3, 4'000, 1s).stats), "3 B sent, 4.00 kB received");
  EXPECT_EQ(payload_text(sample(3, 0, 1s).stats), "3 B sent");
  EXPECT_EQ(payload_text(sample(0, 4'000, 1s).stats), "4.00 kB received");
  EXPECT_EQ(payload_text({}), "0 B sent");
}

TEST(ClockText, IsWrittenAsClocksDo) {
  EXPECT_EQ(clock_text(0s), "0:00");
  EXPECT_EQ(clock_text(59'999ms), "0:59");
  EXPECT_EQ(clock_text(60s), "1:00");
  EXPECT_EQ(clock_text(3'599s), "59:59");
  EXPECT_EQ(clock_text(3'723s), "1:02:03");
  EXPECT_EQ(clock_text(100h), "100:00:00");
}

TEST(StatsSum, AddsCountsAndKeepsTheLatestOfTheRest) {
  ConnectionStats first = sample(1, 2, 0s).stats;
  first.lanes = 3;
  ConnectionStats second = sample(10, 20, 0s).stats;
  second.lanes = 4;
  second.rtt = 9us;
  const ConnectionStats both = sum(first, second);
  EXPECT_EQ(both.bytes_sent, 11U);
  EXPECT_EQ(both.bytes_received, 22U);
  EXPECT_EQ(both.packets_sent, 2000U);
  EXPECT_EQ(both.packets_lost, 10U);
  EXPECT_EQ(both.lanes, 4U);
  EXPECT_EQ(both.rtt, 9us);
}

RunReport report() {
  RunReport made;
  made.end.elapsed = std::chrono::milliseconds(2500);
  made.end.stats = {.bytes_sent = 1'000'000,
                    .bytes_received = 250'000,
                    .blocks_sent = 4,
                    .blocks_received = 1,
                    .packets_sent = 700,
                    .packets_lost = 3,
                    .packets_resent = 2,
                    .rtt = std::chrono::microseconds(75),
                    .lanes = 16,
                    .threads = 2,
                    .flows = 3,
                    .cipher = Cipher::aes_256_gcm};
  made.cpu = std::chrono::milliseconds(1500);
  made.transport = TransportKind::native;
  made.congestion = CongestionKind::bbr;
  made.peer = "192.0.2.7:5555";
  made.peer_name = "alice";
  made.exit_reason = "complete";
  made.limited_by = {"peer_consumer", "limited by their consumer"};
  return made;
}

TEST(StatsReport, HasEveryFigureInOneLine) {
  const std::string text = to_json(report());
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(text), nlohmann::json::parse(R"({
    "bytes_sent": 1000000, "bytes_received": 250000, "seconds": 2.5, "rate_bits_per_second": 4000000, "rtt_us": 75,
    "packets_sent": 700, "packets_lost": 3, "packets_resent": 2, "blocks_sent": 4, "blocks_received": 1,
    "lanes": 16, "threads": 2, "flows": 3, "cpu_seconds": 1.5, "cipher": "aes-256-gcm", "protection": "private",
    "transport": "native", "congestion": "bbr",
    "peer": "192.0.2.7:5555", "peer_name": "alice", "exit_status": 0, "exit_reason": "complete",
    "limited_by": "peer_consumer", "limited_by_text": "limited by their consumer"})"));
}

TEST(StatsReport, HasNullForWhatThereIsNot) {
  const nlohmann::json empty = nlohmann::json::parse(to_json(RunReport{}));
  EXPECT_TRUE(empty.at("cipher").is_null());
  EXPECT_TRUE(empty.at("peer").is_null());
  EXPECT_TRUE(empty.at("peer_name").is_null());
  EXPECT_TRUE(empty.at("rtt_us").is_null());
  EXPECT_TRUE(empty.at("limited_by").is_null());
  EXPECT_EQ(empty.at("rate_bits_per_second"), 0);
}

TEST(StatsReport, SurvivesAnyBytesInAReason) {
  RunReport odd = report();
  odd.exit_status = ExitStatus::usage;
  odd.exit_reason = "key file \"\xff\n\x01\": no";
  const nlohmann::json parsed = nlohmann::json::parse(to_json(odd));
  EXPECT_EQ(parsed.at("exit_status"), 2);
  EXPECT_EQ(parsed.at("exit_reason"), "key file \"\ufffd\n\x01\": no");
}

TEST(StatsReport, KnowsTheProcessorTimeOfThisProcess) { EXPECT_GT(process_cpu_time().count(), 0); }

}  // namespace
}  // namespace udtcat::tool
