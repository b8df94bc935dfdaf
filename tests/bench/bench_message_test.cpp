// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_message.hpp"

#include <string>

#include <gtest/gtest.h>

#include "support/spec_example.hpp"

namespace udtcat::bench {
namespace {

using namespace std::chrono_literals;

BenchResponse full_answer() {
  BenchCounters stats;
  stats.taken_bytes = 1;
  stats.taking = 2us;
  stats.packets_sent = 3;
  stats.packets_lost = 4;
  stats.packets_resent = 5;
  stats.packets_late = 6;
  stats.cpu = 7us;
  stats.event_loop = 8us;
  stats.cipher = 9us;
  stats.socket_drops = 10;
  stats.packet_bytes = 11;
  return {.number = 7, .cores = 16, .counters = stats};
}

TEST(BenchRequest, SurvivesItsEncoding) {
  const BenchRequest request{.number = 7, .sends_for = 5s};
  EXPECT_EQ(to_json(request), test::SpecExample("bench.md", "question").text("question"));
  EXPECT_EQ(parse_bench_request(to_json(request)), request);
}

/// Proves: bench.sending-time, threat-model.bench-time
TEST(BenchRequest, IsForAMinuteAtMostWhateverItSays) {
  for (const auto seconds : {60s, 61s, 1'000'000s})
    EXPECT_EQ(parse_bench_request(to_json(BenchRequest{.number = 7, .sends_for = seconds})).value().sends_for, 60s);
}

TEST(BenchResponse, IsThisLine) {
  EXPECT_EQ(to_json(full_answer()),
            R"({"version":1,"number":7,"cores":16,"taken_bytes":1,"taking_us":2,"packets_sent":3,"packets_lost":4,)"
            R"("packets_resent":5,"packets_late":6,"cpu_us":7,"event_loop_us":8,"cipher_us":9,"socket_drops":10,)"
            R"("packet_bytes":11})");
}

TEST(BenchResponse, IsTheSameAfterAJourney) {
  EXPECT_EQ(to_json(parse_bench_response(to_json(full_answer())).value()), to_json(full_answer()));
}

TEST(BenchResponse, IsRefusedAtEachTruncation) {
  const std::string whole = to_json(full_answer());
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const auto cut = parse_bench_response(std::string_view(whole).substr(0, bytes));
    ASSERT_FALSE(cut) << bytes;
    EXPECT_EQ(cut.error().code, Errc::protocol_violated);
  }
}

TEST(BenchResponse, IsReadOrRefusedWhicheverByteIsChanged) {
  const std::string whole = to_json(full_answer());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char other : {'\0', '"', '{', '9', '-', '\xff'}) {
      std::string changed = whole;
      changed[at] = other;
      const auto read = parse_bench_response(changed);
      EXPECT_TRUE(!read || parse_bench_response(to_json(*read)));
    }
  }
}

TEST(BenchResponse, OfALaterVersionIsReadAsFarAsItIsKnown) {
  const auto response = parse_bench_response(R"({"version":1,"number":3,"cores":2,"colour":"green"})");
  ASSERT_TRUE(response);
  EXPECT_EQ(response->number, 3U);
  EXPECT_EQ(to_json(*response), to_json({.number = 3, .cores = 2, .counters = {}})) << "what it does not say is 0";
}

TEST(BenchResponse, IsRefusedWhereItIsHostile) {
  for (const std::string& text :
       {std::string("[]"), std::string("7"), std::string("{}"), std::string(R"({"version":2})"),
        std::string(R"({"version":1,"cores":-1})"), std::string(R"({"version":1,"cores":1.5})"),
        std::string(R"({"version":1,"cores":"8"})"), std::string(R"({"version":1,"cores":9007199254740993})"),
        std::string(R"({"version":1,"cores":{"here":1}})"),
        R"({"version":1,"cores":1,"more":")" + std::string(kMaxBenchLineBytes, 'x') + R"("})",
        R"({"version":1,"deep":)" + std::string(1000, '[') + std::string(1000, ']') + "}"})
    EXPECT_FALSE(parse_bench_response(text)) << text.substr(0, 60);
}

TEST(BenchCounters, NeverRunBackwards) {
  const BenchCounters later = full_answer().counters;
  EXPECT_EQ(since(later, BenchCounters{}).packets_sent, 0U) << "a peer that counts down is not believed";
  EXPECT_EQ(since(BenchCounters{}, later).cpu, 7us);
  EXPECT_EQ(since(later, later).packet_bytes, 11U) << "which is no sum";
}

TEST(BenchCounters, AreThoseOfTheConnection) {
  ConnectionStats stats;
  stats.packets_sent = 100;
  stats.packets_late = 2;
  stats.ends.here.socket_drops = 3;
  stats.ends.here.packet_bytes = 1500;
  const BenchCounters made = bench_counters(stats);
  EXPECT_EQ(made.packets_sent, 100U);
  EXPECT_EQ(made.packets_late, 2U);
  EXPECT_EQ(made.socket_drops, 3U);
  EXPECT_EQ(made.packet_bytes, 1500U);
}

}  // namespace
}  // namespace udtcat::bench
