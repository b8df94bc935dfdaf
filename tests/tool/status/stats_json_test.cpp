// SPDX-License-Identifier: Apache-2.0
/// The JSON of a RunReport, of snapshot.
#include "tool/status/snapshot.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace udtcat::tool {
namespace {

RunReport report() {
  RunReport made;
  made.end.elapsed = std::chrono::milliseconds(2500);
  ConnectionStats& stats = made.end.stats;
  stats.bytes_sent = 1'000'000;
  stats.bytes_received = 250'000;
  stats.blocks_sent = 4;
  stats.blocks_received = 1;
  stats.packets_sent = 700;
  stats.packets_lost = 3;
  stats.packets_resent = 2;
  stats.rtt = std::chrono::microseconds(75);
  stats.lanes = 16;
  stats.threads = 2;
  stats.flows = 3;
  stats.cipher = Cipher::aes_256_gcm;
  made.cpu = std::chrono::milliseconds(1500);
  made.transport = TransportKind::native;
  made.congestion = CongestionKind::bbr;
  made.peer = "192.0.2.7:5555";
  made.peer_name = "alice";
  made.exit_reason = "complete";
  made.limited_by = {"peer_consumer", "limited by their consumer"};
  return made;
}

TEST(StatsReport, IsThisLine) {
  EXPECT_EQ(to_json(report()),
            R"({"version":1,"bytes_sent":1000000,"bytes_received":250000,"seconds":2.5,)"
            R"("rate_bits_per_second":4000000,"rtt_us":75,)"
            R"("packets_sent":700,"packets_lost":3,"packets_resent":2,"blocks_sent":4,"blocks_received":1,)"
            R"("lanes":16,"threads":2,"flows":3,"cpu_seconds":1.5,"cipher":"aes-256-gcm","protection":"private",)"
            R"("transport":"native","congestion":"bbr","peer":"192.0.2.7:5555","peer_name":"alice",)"
            R"("exit_status":0,"exit_reason":"complete",)"
            R"("limited_by":"peer_consumer","limited_by_text":"limited by their consumer","selected_pair":null})");
}

/// Proves: json.null-not-absent
TEST(StatsReport, HasNullForWhatThereIsNot) {
  const nlohmann::json empty = nlohmann::json::parse(to_json(RunReport{}));
  EXPECT_TRUE(empty.at("cipher").is_null());
  EXPECT_TRUE(empty.at("peer").is_null());
  EXPECT_TRUE(empty.at("peer_name").is_null());
  EXPECT_TRUE(empty.at("rtt_us").is_null());
  EXPECT_TRUE(empty.at("limited_by").is_null());
  EXPECT_TRUE(empty.at("selected_pair").is_null());
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

}  // namespace
}  // namespace udtcat::tool
