// SPDX-License-Identifier: Apache-2.0
#include "tool/status/snapshot.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "lib/bridge/fake_connection.hpp"

namespace udtcat::tool {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

PeerSnapshot peer(std::uint64_t number, std::uint64_t bytes, std::chrono::seconds age = 10s) {
  ConnectionStats stats;
  stats.bytes_sent = bytes;
  stats.streams_open = 2;
  stats.packets_sent = 1000;
  stats.packets_lost = 1;
  stats.rtt = 75ms;
  return {.number = number, .name = "web", .address = "192.0.2.7:41234", .age = age, .stats = stats, .rate = {}};
}

ProcessSnapshot snapshot() {
  ProcessSnapshot made;
  made.what = "udtcat -l 9000 --to localhost:5432";
  made.pid = 4711;
  made.age = 3723s;
  made.listening = {"udp 0.0.0.0:9000"};
  made.forwarding = {"tcp 127.0.0.1:5432"};
  made.peers = {peer(1, 1'250'000'000)};
  made.all = made.peers.front().stats;
  made.dialing = DialingSnapshot{.peer = "far:9000", .age = 17s, .reason = "reach far:9000: the port is closed"};
  made.clients_waiting = 2;
  made.refused = {{.reason = "authentication failed", .count = 3, .ago = 12s, .last = "192.0.2.9:1: TLS: no key"}};
  made.cpu = 1500ms;
  made.resources = {.memory_bytes = 4096, .open_descriptors = 12, .max_descriptors = 1024};
  made.dropped_datagrams = 7;
  made.redials = 2;
  made.peer_totals = {{.name = "web",
                       .bytes_sent = 5,
                       .handshakes = 2,
                       .packets_lost = 3,
                       .packets_lost_queued = 1,
                       .packets_lost_path = 2},
                      {.name = "tcp"}};
  made.transfers = {{.peer = "web",
                     .direction = "received",
                     .complete = 1,
                     .bytes = 20,
                     .files = 2,
                     .last_complete = std::chrono::system_clock::time_point(1'796'000'000'027ms)}};
  return made;
}

TEST(Snapshot, IsTheSameAfterAJourneyAsJson) {
  const std::string json = to_json(snapshot());
  const auto back = parse_snapshot(json);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(to_json(*back), json);
  EXPECT_EQ(back->peers.front().stats.rtt, 75ms);
  EXPECT_EQ(back->peers.front().name, "web");
  EXPECT_EQ(back->refused.front().ago, 12s);
  EXPECT_EQ(back->dialing->age, 17s);
  EXPECT_EQ(back->clients_waiting, 2U);
}

TEST(Snapshot, NamesItsServiceFirst) {
  ProcessSnapshot made = snapshot();
  EXPECT_THAT(to_json(made), HasSubstr(R"("service":null)"));
  made.service = "db";
  EXPECT_EQ(parse_snapshot(to_json(made))->service, "db");
  EXPECT_TRUE(to_text(made).starts_with("db: udtcat -l 9000 --to localhost:5432 (pid 4711")) << to_text(made);
}

TEST(Snapshot, OfAnOlderProcessHasNoService) {
  auto older = nlohmann::json::parse(to_json(snapshot()));
  older.erase("service");
  EXPECT_EQ(parse_snapshot(older.dump())->service, "");
}

TEST(Snapshot, NamesTheSelectedPairOfAPeer) {
  ProcessSnapshot made = snapshot();
  made.peers.front().selected_pair = SelectedPairText{.transport = "udp",
                                                      .local = "host",
                                                      .local_address = "192.0.2.1:9000",
                                                      .remote = "relayed",
                                                      .remote_address = "198.51.100.3:9001",
                                                      .text = "UDP, host 192.0.2.1:9000 to relayed 198.51.100.3:9001"};
  const std::string json = to_json(made);
  const auto back = parse_snapshot(json);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(to_json(*back), json);
  EXPECT_THAT(to_text(*back),
              HasSubstr("\n    selected pair: UDP, host 192.0.2.1:9000 to relayed 198.51.100.3:9001\n"));
  EXPECT_THAT(to_text(snapshot()), Not(HasSubstr("selected pair")));
}

TEST(Snapshot, OfAMeetingPlaceSaysWhoMeetsWhom) {
  ProcessSnapshot made = snapshot();
  made.place = PlaceSnapshot{.registrations = 3,
                             .pairs = {{.listener = "alice (192.0.2.1:4711)",
                                        .connector = "bob (192.0.2.2:4712)",
                                        .age = 65s,
                                        .port = 9001,
                                        .by_tcp = true,
                                        .bytes_from_listener = 1'000,
                                        .bytes_from_connector = 2'500'000'000,
                                        .over_rate_bytes = 7'000,
                                        .undelivered_datagrams = 1}},
                             .over_rate_bytes = 9'000};
  const std::string json = to_json(made);
  const auto back = parse_snapshot(json);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(to_json(*back), json);
  EXPECT_THAT(
      to_text(*back),
      HasSubstr("  3 registrations, 1 pair\n  bob (192.0.2.2:4712) and alice (192.0.2.1:4711), for 1:05\n"
                "    relayed by UDP port 9001 and TCP: 2.50 GB to the listener, 1.00 kB to the connector, 7.00 kB over "
                "the rate, 1 datagram not delivered\n"));
  EXPECT_THAT(to_sentence(*back), HasSubstr("3 registrations, 1 pair, "));
}

TEST(Snapshot, IsThisJson) {
  ProcessSnapshot made = snapshot();
  made.peers.front().stats.bytes_received = 3;
  made.peers.front().stats.silence = 1'500ms;
  made.peers.front().rate = BitRate::from_bits_per_second(8'000);
  made.peers.front().limited_by = {"path", "limited by the path"};
  made.rate = BitRate::from_bits_per_second(9'000);
  EXPECT_EQ(to_json(made),
            R"({"version":1,"service":null,"what":"udtcat -l 9000 --to localhost:5432","pid":4711,"seconds":3723.0,)"
            R"("listening":["udp 0.0.0.0:9000"],"forwarding":["tcp 127.0.0.1:5432"],"bytes_sent":1250000000,)"
            R"("bytes_received":0,"rate_bits_per_second":9000,"streams_open":2,"packets_sent":1000,"packets_lost":1,)"
            R"("cpu_seconds":1.5,"resident_memory_bytes":4096,"open_descriptors":12,"max_descriptors":1024,)"
            R"("dropped_datagrams":7,"clients_waiting":2,"dialling":{"peer":"far:9000","seconds":17.0,)"
            R"("reason":"reach far:9000: the port is closed"},"redials":2,)"
            R"("peers_left_out":0,"peers":[{"number":1,"name":"web",)"
            R"("address":"192.0.2.7:41234","transport":"native","seconds":10.0,"bytes_sent":1250000000,)"
            R"("bytes_received":3,)"
            R"("rate_bits_per_second":8000,"streams_open":2,"packets_sent":1000,"packets_lost":1,"flows":1,)"
            R"("rtt_us":75000,"silent_seconds":1.5,"limited_by":"path","limited_by_text":"limited by the path",)"
            R"("selected_pair":null}],)"
            R"("peer_totals":[{"name":"web","bytes_sent":5,"bytes_received":0,"handshakes":2,"sessions":0,)"
            R"("streams_open":0,"packets_sent":0,"packets_lost":3,"packets_lost_queued":1,"packets_lost_path":2},)"
            R"({"name":"tcp","bytes_sent":0,"bytes_received":0,"handshakes":0,"sessions":0,"streams_open":0,)"
            R"("packets_sent":0,"packets_lost":0,"packets_lost_queued":0,"packets_lost_path":null}],)"
            R"("transfers":[{"peer":"web","direction":"received","complete":1,"failed":0,"bytes":20,"files":2,)"
            R"("last_complete":"2026-11-30T00:53:20.027Z","last_failed":null}],)"
            R"("refused":[{"reason":"authentication failed","count":3,"last_seconds_ago":12.0,)"
            R"("last":"192.0.2.9:1: TLS: no key"}],"meeting":null})");
}

TEST(Snapshot, CountsPeersAndNotTheirSessions) {
  ProcessSnapshot made = snapshot();
  EXPECT_THAT(to_text(made), HasSubstr("  1 peer, "));
  made.peers = {peer(1, 1), peer(2, 1), peer(3, 1)};
  EXPECT_THAT(to_text(made), HasSubstr("  3 sessions of 1 peer, "));
  made.peers[2].name = "mail";
  EXPECT_EQ(to_sentence(made).substr(0, 22), "3 sessions of 2 peers,");
  made.peers[1].name = "db";
  EXPECT_THAT(to_text(made), HasSubstr("  3 peers, "));
  for (PeerSnapshot& each : made.peers) each.name.clear();
  EXPECT_THAT(to_text(made), HasSubstr("  3 sessions of 1 peer, ")) << "one host";
  made.peers_left_out = 2;
  EXPECT_THAT(to_text(made), HasSubstr("  5 sessions, ")) << "of the rest nothing is known";
}

/// Proves: json.null-not-absent
TEST(Snapshot, OfAPeerWithoutNameAndRoundTripSaysNull) {
  ProcessSnapshot made = snapshot();
  made.peers.front().name.clear();
  made.peers.front().stats.rtt.reset();
  const std::string json = to_json(made);
  EXPECT_THAT(json, AllOf(HasSubstr("\"name\":null"), HasSubstr("\"rtt_us\":null"), HasSubstr("\"limited_by\":null")));
  EXPECT_EQ(parse_snapshot(json)->peers.front().stats.rtt, std::nullopt);
}

TEST(Snapshot, OfAnEarlierProgramIsRead) {
  auto json = nlohmann::ordered_json::parse(to_json(snapshot()));
  json.erase("dialling");
  json.erase("clients_waiting");
  for (const char* key : {"resident_memory_bytes", "open_descriptors", "max_descriptors", "dropped_datagrams",
                          "redials", "peer_totals", "transfers"})
    json.erase(key);
  json["peers"][0].erase("silent_seconds");
  json["refused"][0].erase("last");
  const auto read = parse_snapshot(json.dump());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_FALSE(read->dialing);
  EXPECT_FALSE(read->redials);
  EXPECT_TRUE(read->peer_totals.empty());
  EXPECT_TRUE(read->transfers.empty());
  EXPECT_THAT(to_text(*read), HasSubstr("refused 3: authentication failed, the last 0:12 ago\n"));
}

TEST(Snapshot, OfASilentPeerSaysForHowLong) {
  ProcessSnapshot made = snapshot();
  made.peers.front().stats.silence = 8'400ms;
  EXPECT_THAT(to_text(parse_snapshot(to_json(made)).value()), HasSubstr("2 streams, no answer for 8 s, 1.25 GB sent"));
}

TEST(Snapshot, OfAPeerHasTheNameThatItsKeyPairGivesItAndNoOther) {
  bridge::FakeConnection connection(Endpoint{});
  EXPECT_EQ(snapshot_of(1, connection).name, "") << "it has none";
  connection.identity = PeerIdentity{"alice", KeyPair::generate()->public_key()};
  EXPECT_EQ(snapshot_of(1, connection).name, "alice");
}

TEST(Snapshot, OfAnOlderProcessSaysNothingOfLimits) {
  ProcessSnapshot made = snapshot();
  made.peers.front().limited_by = {"path", "limited by the path"};
  std::string json = to_json(made);
  EXPECT_EQ(parse_snapshot(json)->peers.front().limited_by.word, "path");
  EXPECT_THAT(to_text(*parse_snapshot(json)), HasSubstr("\n    limited by the path\n"));
  const std::string added = ",\"limited_by\":\"path\",\"limited_by_text\":\"limited by the path\"";
  json.erase(json.find(added), added.size());
  const auto older = parse_snapshot(json);
  ASSERT_TRUE(older) << older.error().message();
  EXPECT_EQ(older->peers.front().limited_by.text, "");
  EXPECT_THAT(to_text(*older), Not(HasSubstr("limited")));
}

TEST(Snapshot, ThatIsCutIsRefused) {
  const std::string json = to_json(snapshot());
  for (std::size_t length = 0; length < json.size(); ++length)
    EXPECT_FALSE(parse_snapshot(json.substr(0, length))) << length;
}

TEST(Snapshot, ThatIsChangedIsASnapshotOrAnErrorAndShowsNoControlCharacter) {
  const std::string json = to_json(snapshot());
  for (std::size_t at = 0; at < json.size(); ++at) {
    std::string changed = json;
    changed[at] = static_cast<char>(changed[at] ^ '\x1b');
    const auto read = parse_snapshot(changed);
    EXPECT_THAT(read ? to_text(*read) : "", Not(HasSubstr("\x1b"))) << at;
  }
}

TEST(Snapshot, OfAHostileProcessIsHarmless) {
  ProcessSnapshot made = snapshot();
  made.peers.front().name = "\x1b[2J";
  made.listening = {"udp \x07"};
  const auto read = parse_snapshot(to_json(made));
  ASSERT_TRUE(read);
  EXPECT_THAT(to_text(*read), AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\x07")), HasSubstr("?[2J")));
  EXPECT_FALSE(parse_snapshot(std::string(1'000'000, '[')));
  EXPECT_FALSE(parse_snapshot(std::string(kMaxSnapshotBytes + 1, ' ')));
  EXPECT_FALSE(parse_snapshot("{\"version\":2}"));
}

TEST(Snapshot, OfMoreTotalsThanThereCanBeIsRefused) {
  ProcessSnapshot made = snapshot();
  made.peer_totals.assign(1002, made.peer_totals.front());
  made.transfers.assign(4008, made.transfers.front());
  EXPECT_TRUE(parse_snapshot(to_json(made)));
  made.transfers.emplace_back();
  EXPECT_FALSE(parse_snapshot(to_json(made)));
  made.transfers.clear();
  made.peer_totals.emplace_back();
  EXPECT_FALSE(parse_snapshot(to_json(made)));
}

TEST(Snapshot, WithATimeThatIsNoneIsRefused) {
  auto json = nlohmann::json::parse(to_json(snapshot()));
  for (const char* time : {"", "yesterday", "2026-13-30T00:53:20.027Z", "2026-11-30T00:53:20.027+01:00"}) {
    json["transfers"][0]["last_complete"] = time;
    EXPECT_FALSE(parse_snapshot(json.dump())) << time;
  }
}

/// Proves: json.document-size
TEST(Snapshot, OfTenThousandPeersShowsTheFastestAndFitsItsBound) {
  ProcessSnapshot made = snapshot();
  made.peers.clear();
  for (std::uint64_t i = 1; i <= 10'000; ++i) {
    made.peers.push_back(peer(i, i));
    made.peers.back().rate = BitRate::from_bits_per_second(i);
  }
  const std::string json = to_json(made);
  EXPECT_LT(json.size(), 4U << 20);
  const auto read = parse_snapshot(json).value();
  EXPECT_EQ(read.peers.size(), kMaxShownPeers);
  EXPECT_EQ(read.peers_left_out, 9'000U);
  for (const PeerSnapshot& shown : read.peers) EXPECT_GT(shown.number, 9'000U);
  EXPECT_THAT(to_text(read), AllOf(HasSubstr("10000 sessions"), HasSubstr("and 9000 slower ones")));
}

TEST(Snapshot, IsReadByAPerson) {
  Rates rates;
  ProcessSnapshot made = snapshot();
  rates.set(made, Rates::TimePoint() + 1h);
  const std::string text = to_text(made);
  EXPECT_THAT(text, HasSubstr("udtcat -l 9000 --to localhost:5432 (pid 4711, for 1:02:03)\n"));
  EXPECT_THAT(text, HasSubstr("  listening on udp 0.0.0.0:9000\n  forwarding tcp 127.0.0.1:5432\n"));
  EXPECT_THAT(text, HasSubstr("  2 clients waiting for a session\n"
                              "  dialling far:9000 for 0:17: reach far:9000: the port is closed\n"
                              "  refused 3: authentication failed, the last 0:12 ago: 192.0.2.9:1: TLS: no key\n"));
  EXPECT_THAT(text, HasSubstr("  web 192.0.2.7:41234\n    2 streams, 125 MB/s, 1.25 GB sent in 0:10"));
  EXPECT_THAT(to_sentence(made), HasSubstr("1 peer, "));
}

TEST(Rates, AreOfTheTimeBetweenTwoSnapshots) {
  Rates rates;
  ProcessSnapshot made = snapshot();
  made.peers = {peer(1, 1000, 1s), peer(2, 500, 2s)};
  made.all.bytes_sent = 1500;
  const auto start = Rates::TimePoint() + 1h;
  rates.set(made, start);
  EXPECT_EQ(made.peers[0].rate.bits_per_second(), 8000U);
  EXPECT_EQ(made.peers[1].rate.bits_per_second(), 2000U);
  made.peers = {peer(1, 3000), peer(3, 100, 1s)};  // 2 has left
  made.all.bytes_sent = 4000;
  rates.set(made, start + 2s);
  EXPECT_EQ(made.peers[0].rate.bits_per_second(), 8000U);
  EXPECT_EQ(made.peers[1].rate.bits_per_second(), 800U);
  EXPECT_EQ(made.rate.bits_per_second(), 10'000U);
}

TEST(Rates, ComeWithTheVerdictOnTheTimeBetween) {
  Rates rates;
  ProcessSnapshot made = snapshot();
  EndStats& end = made.peers.front().stats.ends.here;
  auto& waited = end.stalled[static_cast<std::size_t>(StallReason::source)];
  end.elapsed = waited = 10s;
  end.bytes_sent = 1000;
  rates.set(made, Rates::TimePoint() + 1h);
  EXPECT_EQ(made.peers.front().limited_by.word, "source");
  EXPECT_THAT(made.peers.front().limited_by.text, HasSubstr("since it began, "));
  end.elapsed = 20s;
  end.stalled[static_cast<std::size_t>(StallReason::memory)] = 10s;
  end.bytes_sent += 10'000;
  end.memory_bytes = 1000;
  end.least_rtt = 1s;
  made.peers.front().stats.bytes_sent += 1000;
  rates.set(made, Rates::TimePoint() + 1h + 10s);
  EXPECT_EQ(made.peers.front().limited_by.word, "memory");
  EXPECT_THAT(made.peers.front().limited_by.text, HasSubstr("over the last 10 s, limited by --memory here"));
}

TEST(Rates, SayNothingOfLimitsWhereNothingMoved) {
  Rates rates;
  ProcessSnapshot made = snapshot();
  made.peers = {peer(1, 1000), peer(2, 0)};
  for (PeerSnapshot& each : made.peers) {
    EndStats& end = each.stats.ends.here;
    end.elapsed = end.stalled[static_cast<std::size_t>(StallReason::source)] = 10s;
  }
  rates.set(made, Rates::TimePoint() + 1h);
  EXPECT_EQ(made.peers[0].limited_by.word, "source");
  EXPECT_EQ(made.peers[1].limited_by.word, "") << "it is new, and has sent nothing";
  EndStats& end = made.peers[0].stats.ends.here;
  end.elapsed = end.stalled[static_cast<std::size_t>(StallReason::source)] = 20s;
  rates.set(made, Rates::TimePoint() + 1h + 10s);
  EXPECT_EQ(made.peers[0].limited_by.word, "");
  EXPECT_THAT(to_text(made), Not(HasSubstr("limited")));
  EXPECT_THAT(to_json(made), AllOf(HasSubstr("\"limited_by\":null"), Not(HasSubstr("\"limited_by\":\""))));
}

}  // namespace
}  // namespace udtcat::tool
