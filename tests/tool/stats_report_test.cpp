#include "tool/stats_report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace udtcat::tool {
namespace {

using nlohmann::json;

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
  made.exit_reason = "complete";
  return made;
}

TEST(StatsReport, HasEveryFigureInOneLine) {
  const std::string text = to_json(report());
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(json::parse(text), json::parse(R"({
    "bytes_sent": 1000000, "bytes_received": 250000, "seconds": 2.5, "rate_bits_per_second": 4000000, "rtt_us": 75,
    "packets_sent": 700, "packets_lost": 3, "packets_resent": 2, "blocks_sent": 4, "blocks_received": 1,
    "lanes": 16, "threads": 2, "flows": 3, "cpu_seconds": 1.5, "cipher": "aes-256-gcm", "protection": "private", "transport": "native", "congestion": "bbr",
    "peer": "192.0.2.7:5555", "exit_status": 0, "exit_reason": "complete"})"));
}

TEST(StatsReport, HasNullForWhatThereIsNot) {
  const json empty = json::parse(to_json({}));
  EXPECT_TRUE(empty.at("cipher").is_null());
  EXPECT_TRUE(empty.at("peer").is_null());
  EXPECT_TRUE(empty.at("rtt_us").is_null());
  EXPECT_EQ(empty.at("rate_bits_per_second"), 0);
}

TEST(StatsReport, StandsAnyBytesInAReason) {
  RunReport odd = report();
  odd.exit_status = ExitStatus::usage;
  odd.exit_reason = "key file \"\xff\n\x01\": no";
  const json parsed = json::parse(to_json(odd));
  EXPECT_EQ(parsed.at("exit_status"), 2);
  EXPECT_EQ(parsed.at("exit_reason"), "key file \"\ufffd\n\x01\": no");
}

TEST(StatsReport, KnowsTheProcessorTimeOfThisProcess) { EXPECT_GT(process_cpu_time().count(), 0); }

}  // namespace
}  // namespace udtcat::tool
