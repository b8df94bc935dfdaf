// SPDX-License-Identifier: Apache-2.0
#include "tool/status/openmetrics.hpp"

#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

#include <gmock/gmock.h>

#include <udtcat/udtcat.hpp>

#include "tool/status/peer_totals.hpp"

namespace udtcat::tool {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::chrono::system_clock::time_point kNow{1'796'000'000s};

PeerSnapshot session(std::uint64_t number, const std::string& name, std::chrono::seconds age) {
  PeerSnapshot peer;
  peer.number = number;
  peer.name = name;
  peer.age = age;
  peer.rate = BitRate::from_bits_per_second(8'000);
  return peer;
}

/// A process with something of each family.
ProcessSnapshot full() {
  ProcessSnapshot made;
  made.service = "db";
  made.pid = 4711;
  made.age = 1000s;
  made.cpu = 1'500ms;
  made.resources = {.memory_bytes = 12'000'000, .open_descriptors = 20, .max_descriptors = 1024};
  made.dropped_datagrams = 5;
  made.redials = 3;
  made.dialing = DialingSnapshot{.peer = "far:9000", .age = 17s};
  made.clients_waiting = 2;
  made.refused = {{.reason = "the keys do not match", .count = 4}};
  made.peers = {session(1, "alice", 100s), session(2, "alice", 10s), session(3, "alice", 1s)};
  made.peers[0].stats.rtt = 75ms;
  made.peers[1].stats.rtt = 80ms;
  made.peers[1].limited_by = {"path", "limited by the path"};
  made.peer_totals = {{.name = "alice",
                       .bytes_sent = 439'000'000,
                       .bytes_received = 7,
                       .handshakes = 9,
                       .sessions = 3,
                       .streams_open = 2,
                       .packets_sent = 1000,
                       .packets_lost = 15,
                       .packets_lost_queued = 12,
                       .packets_lost_path = 3},
                      {.name = "bob", .bytes_sent = 1, .handshakes = 1}};
  made.transfers = {{.peer = "alice",
                     .direction = "received",
                     .complete = 8,
                     .failed = 1,
                     .bytes = 123,
                     .files = 21,
                     .last_complete = kNow - 60s,
                     .last_failed = kNow - 30s}};
  made.place = PlaceSnapshot{.registrations = 6, .pairs = std::vector<PairSnapshot>(2), .over_rate_bytes = 77};
  return made;
}

std::string rendered(const std::vector<ProcessSnapshot>& all, MetricsFormat format = MetricsFormat::prometheus) {
  return to_metrics(all, format, kNow);
}

TEST(OpenMetrics, HaveEachSeriesOfTheContract) {
  const std::string text = rendered({full()});
  for (const std::string& series : std::vector<std::string>{
           "udtcat_build_info{service=\"db\",version=\"" + std::string(version()) + "\"} 1",
           "udtcat_start_time_seconds{service=\"db\"} 1795999000",
           "udtcat_cpu_seconds_total{service=\"db\"} 1.5",
           "udtcat_resident_memory_bytes{service=\"db\"} 12000000",
           "udtcat_open_descriptors{service=\"db\"} 20",
           "udtcat_max_descriptors{service=\"db\"} 1024",
           R"(udtcat_stream_bytes_total{service="db",peer="alice",direction="sent"} 439000000)",
           R"(udtcat_stream_bytes_total{service="db",peer="alice",direction="received"} 7)",
           R"(udtcat_sessions{service="db",peer="alice"} 3)",
           R"(udtcat_sessions{service="db",peer="bob"} 0)",
           R"(udtcat_handshakes_total{service="db",peer="alice"} 9)",
           R"(udtcat_refusals_total{service="db",reason="the keys do not match"} 4)",
           R"(udtcat_redials_total{service="db"} 3)",
           R"(udtcat_dialling_seconds{service="db"} 17)",
           R"(udtcat_streams_open{service="db",peer="alice"} 2)",
           R"(udtcat_clients_waiting{service="db"} 2)",
           R"(udtcat_packets_sent_total{service="db",peer="alice"} 1000)",
           R"(udtcat_packets_lost_total{service="db",peer="alice",cause="path"} 3)",
           R"(udtcat_packets_lost_total{service="db",peer="alice",cause="queue"} 12)",
           R"(udtcat_dropped_datagrams_total{service="db"} 5)",
           R"(udtcat_round_trip_seconds{service="db",peer="alice"} 0.08)",
           R"(udtcat_rate_bytes_per_second{service="db",peer="alice"} 3000)",
           R"(udtcat_rate_bytes_per_second{service="db",peer="bob"} 0)",
           R"(udtcat_limited_by{service="db",peer="alice",limit="path"} 1)",
           R"(udtcat_transfers_total{service="db",peer="alice",direction="received",result="complete"} 8)",
           R"(udtcat_transfers_total{service="db",peer="alice",direction="received",result="failed"} 1)",
           R"(udtcat_transfer_bytes_total{service="db",peer="alice",direction="received"} 123)",
           R"(udtcat_transfer_files_total{service="db",peer="alice",direction="received"} 21)",
           R"(udtcat_last_complete_timestamp_seconds{service="db",peer="alice",direction="received"} 1795999940)",
           R"(udtcat_last_failed_timestamp_seconds{service="db",peer="alice",direction="received"} 1795999970)",
           R"(udtcat_meeting_registrations{service="db"} 6)",
           R"(udtcat_meeting_pairs{service="db"} 2)",
           R"(udtcat_meeting_over_rate_bytes_total{service="db"} 77)"})
    EXPECT_THAT(text, HasSubstr("\n" + series + "\n"));
}

/// Of peers that have done all that can be done, and a process that has had all kinds of everything.
std::ptrdiff_t series_of(int peers) {
  ProcessSnapshot made = full();
  made.peers.clear();
  made.peer_totals.clear();
  made.transfers.clear();
  made.refused.clear();
  for (int i = 0; i < 20; ++i) made.refused.push_back({.reason = "reason " + std::to_string(i), .count = 1});
  for (int i = 0; i < peers; ++i) {
    const std::string name = "peer" + std::to_string(i);
    made.peers.push_back(session(static_cast<std::uint64_t>(i), name, 1s));
    made.peers.back().stats.rtt = 1ms;
    made.peers.back().limited_by = {"path", "limited by the path"};
    made.peer_totals.push_back({.name = name, .bytes_sent = 1, .handshakes = 1, .packets_sent = 2, .packets_lost = 1});
    for (const char* direction : {"sent", "received", "both", ""})
      made.transfers.push_back({.peer = name,
                                .direction = direction,
                                .complete = 1,
                                .failed = 1,
                                .last_complete = kNow,
                                .last_failed = kNow});
  }
  std::istringstream lines(rendered({made}));
  std::ptrdiff_t series = 0;
  for (std::string line; std::getline(lines, line);) series += line.starts_with('#') ? 0 : 1;
  return series;
}

/// Proves: metrics.series-count
TEST(OpenMetrics, AreThirtyFourSeriesForEachNameAndFortyMore) {
  EXPECT_LE(series_of(0), 40);
  EXPECT_EQ(series_of(101) - series_of(100), 34);
}

TEST(OpenMetrics, OfAProcessThatHasNothingHaveOnlySeriesOfItself) {
  ProcessSnapshot bare;
  bare.peers = {session(1, "", 1s)};
  const std::string text = rendered({bare});
  for (const char* absent :
       {"peer=", "redials", "dialling", "meeting", "transfer", "refusals", "limited_by", "round_trip", "descriptors"})
    EXPECT_THAT(text, Not(HasSubstr(absent)));
  EXPECT_THAT(text, HasSubstr("udtcat_clients_waiting{service=\"\"} 0\n"));
}

TEST(OpenMetrics, NameNoCauseOfLossesWhereNoQueueIsMeasured) {
  ProcessSnapshot made;
  made.peer_totals = {
      {.name = "native", .packets_lost = 3, .packets_lost_queued = 1, .packets_lost_path = 2},
      {.name = "tcp", .packets_lost = 4},
      {.name = "both", .packets_lost = 9, .packets_lost_queued = 1, .packets_lost_path = 3},
      {.name = "hostile", .packets_lost = 1, .packets_lost_queued = 2, .packets_lost_path = ~std::uint64_t{0}}};
  const std::string text = rendered({made});
  const std::string series = R"(udtcat_packets_lost_total{service="",peer=)";
  for (const char* there :
       {R"("native",cause="path"} 2)", R"("native",cause="queue"} 1)", R"("tcp",cause="unknown"} 4)",
        R"("both",cause="path"} 3)", R"("both",cause="queue"} 1)", R"("both",cause="unknown"} 5)"})
    EXPECT_THAT(text, HasSubstr(series + there + "\n"));
  for (const char* absent : {R"("native",cause="unknown")", R"("tcp",cause="path")", R"("tcp",cause="queue")",
                             R"("hostile",cause="unknown")"})
    EXPECT_THAT(text, Not(HasSubstr(series + absent)));
}

TEST(OpenMetrics, OfAForwardWhosePeerIsHereSayThatItIsNotDialled) {
  ProcessSnapshot made;
  made.redials = 0;
  EXPECT_THAT(rendered({made}), AllOf(HasSubstr("udtcat_redials_total{service=\"\"} 0\n"),
                                      HasSubstr("udtcat_dialling_seconds{service=\"\"} 0\n")));
}

TEST(OpenMetrics, NameTypesAsTheirFormatDoes) {
  const std::string older = rendered({full()});
  EXPECT_THAT(older,
              AllOf(HasSubstr("# TYPE udtcat_stream_bytes_total counter\n"),
                    HasSubstr("# TYPE udtcat_build_info gauge\n"), Not(HasSubstr("# UNIT")), Not(HasSubstr("# EOF"))));
  const std::string open = rendered({full()}, MetricsFormat::openmetrics);
  EXPECT_THAT(open, AllOf(HasSubstr("# TYPE udtcat_stream_bytes counter\n"),
                          HasSubstr("# UNIT udtcat_stream_bytes bytes\n"), HasSubstr("# TYPE udtcat_build info\n"),
                          HasSubstr("# UNIT udtcat_rate_bytes_per_second bytes_per_second\n")));
  EXPECT_TRUE(open.ends_with("\n# EOF\n"));
}

TEST(OpenMetrics, HaveTheSameSamplesInBothFormats) {
  const auto samples = [](const std::string& text) {
    std::string lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
      if (!line.starts_with('#')) lines += line + '\n';
    return lines;
  };
  EXPECT_EQ(samples(rendered({full()})), samples(rendered({full()}, MetricsFormat::openmetrics)));
}

/// Whether each family is one block below its type, and each sample is one of a family, and comes once.
void expect_well_formed(const std::string& text) {
  static const std::regex kSample(R"re(([a-z_]+)\{((?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)*)\} (\S+))re");
  std::set<std::string> series;
  std::vector<std::string> blocks;
  std::string family;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::smatch parts;
    if (line.starts_with("# TYPE ")) {
      family = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_EQ(std::ranges::count(blocks, family), 0) << family;
      blocks.push_back(family);
    } else if (!line.starts_with('#')) {
      ASSERT_TRUE(std::regex_match(line, parts, kSample)) << line;
      EXPECT_TRUE(parts[1].str().starts_with(family)) << line;
      EXPECT_TRUE(series.insert(parts[1].str() + parts[2].str()).second) << line;
      EXPECT_NO_THROW(std::ignore = std::stod(parts[3].str())) << line;
    }
  }
  EXPECT_FALSE(blocks.empty());
}

TEST(OpenMetrics, OfSeveralProcessesAreOneBlockAFamily) {
  ProcessSnapshot web = full();
  web.service = "web";
  for (const auto format : {MetricsFormat::prometheus, MetricsFormat::openmetrics})
    expect_well_formed(rendered({full(), web}, format));
  EXPECT_THAT(rendered({full(), web}), Not(HasSubstr("pid=")));
}

TEST(OpenMetrics, HaveTheNumberOfAProcessWhereItsNameDoesNotTellItFromOthers) {
  ProcessSnapshot twin = full();
  twin.pid = 4712;
  ProcessSnapshot web = full();
  web.service = "web";
  ProcessSnapshot bare;
  bare.pid = 4713;
  const std::string text = rendered({full(), twin, web, bare});
  expect_well_formed(text);
  EXPECT_THAT(text, AllOf(HasSubstr(R"(udtcat_clients_waiting{service="db",pid="4711"} 2)"),
                          HasSubstr(R"(udtcat_clients_waiting{service="db",pid="4712"} 2)"),
                          HasSubstr(R"(udtcat_clients_waiting{service="web"} 2)"),
                          HasSubstr(R"(udtcat_clients_waiting{service="",pid="4713"} 0)")));
}

TEST(OpenMetrics, OfAHostileProcessAreWellFormedAndBounded) {
  ProcessSnapshot made = full();
  made.service = "a\"b\\c\nd\x1b\xff" + std::string(10'000, 'x');
  made.peer_totals[0].name = made.peer_totals[1].name = "\"} 7\nudtcat_up{a=\"";
  made.peers[0].name = made.peer_totals[0].name;
  made.transfers.push_back(made.transfers.front());
  made.refused = {{.reason = "\\", .count = 1}, {.reason = "\\", .count = 2}};
  for (const auto format : {MetricsFormat::prometheus, MetricsFormat::openmetrics})
    expect_well_formed(rendered({made, made}, format));
  const std::string text = rendered({made});
  EXPECT_THAT(text, AllOf(HasSubstr(R"({service="a\"b\\c?d??xxx)"), HasSubstr(R"(reason="\\"} 1)"),
                          Not(HasSubstr("\nudtcat_up"))));
  EXPECT_LT(text.size(), 30'000U);
}

TEST(OpenMetrics, CountPeersBeyondTheBoundAsOthers) {
  ProcessSnapshot made;
  made.peer_totals = {{.name = std::string(kOtherPeers), .sessions = 2}, {.name = "alice", .sessions = 1}};
  made.peers = {session(1, "alice", 1s), session(2, "late", 1s), session(3, "later", 2s)};
  made.peers[2].stats.rtt = 10ms;
  const std::string text = rendered({made});
  EXPECT_THAT(text,
              AllOf(HasSubstr(R"(udtcat_rate_bytes_per_second{service="",peer="other"} 2000)"),
                    HasSubstr(R"(udtcat_round_trip_seconds{service="",peer="other"} 0.01)"), Not(HasSubstr("late"))));
}

TEST(OpenMetrics, AreTheSameAfterAJourneyAsJson) {
  const ProcessSnapshot made = full();
  const auto back = parse_snapshot(to_json(made));
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(rendered({*back}), rendered({made}));
}

}  // namespace
}  // namespace udtcat::tool
