// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_result.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "support/addresses.hpp"

namespace udtcat::bench {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

DirectionResult direction(BenchDirection direction) {
  DirectionResult made;
  made.direction = direction;
  BenchCounters& sender = direction == BenchDirection::out ? made.here : made.there;
  BenchCounters& receiver = direction == BenchDirection::out ? made.there : made.here;
  sender.packets_sent = 10'000;
  sender.packets_lost = 10;
  sender.packet_bytes = 1500;
  receiver.packets_late = 2;
  receiver.taken_bytes = 2'060'000'000;
  receiver.taking = 5s;
  made.here.cpu = 4'050ms;
  made.there.cpu = 3'200ms;
  made.there.socket_drops = 17;
  made.elapsed = 5s;
  made.loaded.all = {88'300us, 88'200us, 90ms};
  made.limited_by = {"path", "limited by the path: 412 MB/s found"};
  return made;
}

BenchResult result() {
  BenchResult made;
  made.peer = "192.0.2.7:9000";
  made.cores_here = 8;
  made.cores_there = 16;
  made.idle_rtts.all = {76ms, 75'100us, 75ms};
  made.directions = {direction(BenchDirection::out), direction(BenchDirection::back)};
  return made;
}

TEST(BenchResult, IsOneScreenOfText) {
  EXPECT_EQ(
      to_text(result()),
      "udtcat bench: 192.0.2.7:9000, round trip 75.1 ms (at best 75.0 ms), 1500-byte packets, private, 8 cores "
      "here, 16 there\n"
      "       rate                         lost      late      round trip   processor here, there   "
      "socket drops here, there\n"
      "out    3.30 Gbit/s    412.0 MB/s    0.10 %    0.02 %    88.3 ms      81 %, 64 % of a core    0, 17\n"
      "back   3.30 Gbit/s    412.0 MB/s    0.10 %    0.02 %    88.3 ms      81 %, 64 % of a core    0, 17\n"
      "out:  limited by the path: 412 MB/s found\n"
      "back: limited by the path: 412 MB/s found\n"
      "(rate: mean over the run; found: the most that the path carried lately; moved: mean while data were sent)\n");
}

TEST(BenchResult, ShowsNothingThatWasNotMeasured) {
  BenchResult cut = result();
  cut.directions = {direction(BenchDirection::out)};
  cut.directions.front().here.packets_sent = 0;
  cut.directions.front().loaded = {};
  cut.cores_there = 0;
  EXPECT_THAT(to_text(cut), HasSubstr("412.0 MB/s    -         -         -   "));
  EXPECT_THAT(to_text(cut), Not(HasSubstr("back")));
  EXPECT_THAT(to_text(cut), HasSubstr("8 cores here\n"));
  const auto json = nlohmann::json::parse(to_json(cut));
  EXPECT_TRUE(json["back"].is_null());
  EXPECT_TRUE(json["out"]["share_lost"].is_null());
  EXPECT_TRUE(json["out"]["loaded_rtt_us"].is_null());
  EXPECT_TRUE(json["cores_there"].is_null());
}

TEST(BenchResult, TellsProgramsTheSame) {
  BenchResult made = result();
  made.directions.pop_back();
  made.directions.front().here.packets_resent = 11;
  EXPECT_EQ(to_json(made),
            R"({"version":1,"peer":"192.0.2.7:9000","protection":"private","cipher":null,"transport":"native",)"
            R"("flows":1,"cores_here":8,"cores_there":16,"selected_pair":null,"rtt_us":75100,"least_rtt_us":75000,)"
            R"("out":{"bytes":2060000000,"seconds":5.0,)"
            R"("rate_bits_per_second":3296000000,"packets_sent":10000,"packets_lost":10,"packets_resent":11,)"
            R"("packets_late":2,"share_lost":0.001,"share_late":0.0002,"packet_bytes":1500,"loaded_rtt_us":88300,)"
            R"("loaded_least_rtt_us":88200,"here":{"cpu_seconds":4.05,"cores_busy":0.81,"event_loop_busy":0.0,)"
            R"("cipher_cores_busy":0.0,"socket_drops":0},"there":{"cpu_seconds":3.2,"cores_busy":0.64,)"
            R"("event_loop_busy":0.0,"cipher_cores_busy":0.0,"socket_drops":17},"limited_by":"path",)"
            R"("limited_by_text":"limited by the path: 412 MB/s found"},"back":null})");
  const auto back = nlohmann::json::parse(to_json(result()))["back"];
  EXPECT_EQ(back["packets_sent"], 10'000) << "the other end's, which sends";
  EXPECT_EQ(back["packets_late"], 2);
}

TEST(BenchResult, NamesTheSelectedPair) {
  BenchResult made = result();
  made.selected_pair = CandidatePair{.local = {Candidate::Kind::host, test::address_of("192.0.2.1", 40123)},
                                     .remote = {Candidate::Kind::relayed, test::address_of("198.51.100.3", 9001)}};
  EXPECT_THAT(to_text(made), HasSubstr("\nselected pair: UDP, host 192.0.2.1:40123 to relayed 198.51.100.3:9001\n"));
  EXPECT_EQ(nlohmann::json::parse(to_json(made))["selected_pair"]["remote"], "relayed");
}

TEST(BenchResult, LimitsSharesOfHostileCountersToAll) {
  DirectionResult liar = direction(BenchDirection::back);
  liar.there.packets_lost = 1'000'000;
  EXPECT_EQ(liar.lost(), 1.0);
  liar.here.taking = 0us;
  EXPECT_TRUE(liar.rate().unlimited()) << "zero: no time, no rate";
}

TEST(RoundTrips, OfNoneAreNotKnown) {
  EXPECT_FALSE(RoundTrips{}.median());
  EXPECT_FALSE(RoundTrips{}.least());
}

TEST(BenchResult, BlamesNoSource) {
  BothEndsStats ends{.here = {.elapsed = 2s, .bytes_sent = 10'000'000}};
  ends.here.stalled[static_cast<std::size_t>(StallReason::source)] = 2s;
  EXPECT_EQ(tool::why(ends).word, "source");
  EXPECT_EQ(why_of_bench(ends).word, "");
  EXPECT_EQ(why_of_bench({.here = {.elapsed = 2s, .bytes_received = 10'000'000}, .there = ends.here}).word, "");
}

}  // namespace
}  // namespace udtcat::bench
