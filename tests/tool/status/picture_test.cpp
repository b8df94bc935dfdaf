// SPDX-License-Identifier: Apache-2.0
#include "tool/status/picture.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "lib/bridge/fake_connection.hpp"

namespace udtcat::tool {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

PeerPicture peer(std::uint64_t number, std::uint64_t bytes, std::chrono::seconds age = 10s) {
  ConnectionStats stats;
  stats.bytes_sent = bytes;
  stats.streams_open = 2;
  stats.packets_sent = 1000;
  stats.packets_lost = 1;
  stats.rtt = 75ms;
  return {.number = number, .name = "web", .address = "192.0.2.7:41234", .age = age, .stats = stats, .rate = {}};
}

ProcessPicture picture() {
  ProcessPicture made;
  made.what = "udtcat -l 9000 --to localhost:5432";
  made.pid = 4711;
  made.age = 3723s;
  made.listening = {"udp 0.0.0.0:9000"};
  made.forwarding = {"tcp 127.0.0.1:5432"};
  made.peers = {peer(1, 1'250'000'000)};
  made.all = made.peers.front().stats;
  made.dialling = DiallingPicture{.peer = "far:9000", .age = 17s, .reason = "reach far:9000: the port is closed"};
  made.clients_waiting = 2;
  made.refused = {{.reason = "authentication failed", .count = 3, .ago = 12s, .last = "192.0.2.9:1: TLS: no key"}};
  made.cpu = 1500ms;
  return made;
}

TEST(Picture, IsTheSameAfterAJourneyAsJson) {
  const std::string json = to_json(picture());
  const auto back = parse_picture(json);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(to_json(*back), json);
  EXPECT_EQ(back->peers.front().stats.rtt, 75ms);
  EXPECT_EQ(back->peers.front().name, "web");
  EXPECT_EQ(back->refused.front().ago, 12s);
  EXPECT_EQ(back->dialling->age, 17s);
  EXPECT_EQ(back->clients_waiting, 2U);
}

TEST(Picture, CountsPeersAndNotTheirSessions) {
  ProcessPicture made = picture();
  EXPECT_THAT(to_text(made), HasSubstr("  1 peer, "));
  made.peers = {peer(1, 1), peer(2, 1), peer(3, 1)};
  EXPECT_THAT(to_text(made), HasSubstr("  3 sessions of 1 peer, "));
  made.peers[2].name = "mail";
  EXPECT_EQ(to_sentence(made).substr(0, 22), "3 sessions of 2 peers,");
  made.peers[1].name = "db";
  EXPECT_THAT(to_text(made), HasSubstr("  3 peers, "));
  for (PeerPicture& each : made.peers) each.name.clear();
  EXPECT_THAT(to_text(made), HasSubstr("  3 sessions of 1 peer, ")) << "one host";
  made.peers_left_out = 2;
  EXPECT_THAT(to_text(made), HasSubstr("  5 sessions, ")) << "of the rest nothing is known";
}

TEST(Picture, OfAPeerWithoutNameAndRoundTripSaysNull) {
  ProcessPicture made = picture();
  made.peers.front().name.clear();
  made.peers.front().stats.rtt.reset();
  const std::string json = to_json(made);
  EXPECT_THAT(json, AllOf(HasSubstr("\"name\":null"), HasSubstr("\"rtt_us\":null"), HasSubstr("\"limited_by\":null")));
  EXPECT_EQ(parse_picture(json)->peers.front().stats.rtt, std::nullopt);
}

TEST(Picture, OfAnEarlierProgramIsRead) {
  auto json = nlohmann::ordered_json::parse(to_json(picture()));
  json.erase("dialling");
  json.erase("clients_waiting");
  json["peers"][0].erase("silent_seconds");
  json["refused"][0].erase("last");
  const auto read = parse_picture(json.dump());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_FALSE(read->dialling);
  EXPECT_THAT(to_text(*read), HasSubstr("refused 3: authentication failed, the last 0:12 ago\n"));
}

TEST(Picture, OfASilentPeerSaysForHowLong) {
  ProcessPicture made = picture();
  made.peers.front().stats.silence = 8'400ms;
  EXPECT_THAT(to_text(parse_picture(to_json(made)).value()), HasSubstr("2 streams, no answer for 8 s, 1.25 GB sent"));
}

TEST(Picture, OfAPeerHasTheNameThatItsKeyPairGivesItAndNoOther) {
  bridge::FakeConnection connection(Endpoint{});
  EXPECT_EQ(picture_of(1, connection).name, "") << "it has none";
  connection.identity = PeerIdentity{"alice", KeyPair::generate()->public_key()};
  EXPECT_EQ(picture_of(1, connection).name, "alice");
}

TEST(Picture, OfAnOlderProcessSaysNothingOfLimits) {
  ProcessPicture made = picture();
  made.peers.front().limited_by = {"path", "limited by the path"};
  std::string json = to_json(made);
  EXPECT_EQ(parse_picture(json)->peers.front().limited_by.word, "path");
  EXPECT_THAT(to_text(*parse_picture(json)), HasSubstr("\n    limited by the path\n"));
  const std::string added = ",\"limited_by\":\"path\",\"limited_by_text\":\"limited by the path\"";
  json.erase(json.find(added), added.size());
  const auto older = parse_picture(json);
  ASSERT_TRUE(older) << older.error().message();
  EXPECT_EQ(older->peers.front().limited_by.text, "");
  EXPECT_THAT(to_text(*older), Not(HasSubstr("limited")));
}

TEST(Picture, ThatIsCutIsRefused) {
  const std::string json = to_json(picture());
  for (std::size_t length = 0; length < json.size(); ++length)
    EXPECT_FALSE(parse_picture(json.substr(0, length))) << length;
}

TEST(Picture, ThatIsChangedIsAPictureOrAnErrorAndShowsNoControlCharacter) {
  const std::string json = to_json(picture());
  for (std::size_t at = 0; at < json.size(); ++at) {
    std::string changed = json;
    changed[at] = static_cast<char>(changed[at] ^ '\x1b');
    const auto read = parse_picture(changed);
    EXPECT_THAT(read ? to_text(*read) : "", Not(HasSubstr("\x1b"))) << at;
  }
}

TEST(Picture, OfAHostileProcessIsHarmless) {
  ProcessPicture made = picture();
  made.peers.front().name = "\x1b[2J";
  made.listening = {"udp \x07"};
  const auto read = parse_picture(to_json(made));
  ASSERT_TRUE(read);
  EXPECT_THAT(to_text(*read), AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\x07")), HasSubstr("?[2J")));
  EXPECT_FALSE(parse_picture(std::string(1'000'000, '[')));
  EXPECT_FALSE(parse_picture(std::string(kMaxPictureBytes + 1, ' ')));
  EXPECT_FALSE(parse_picture("{\"version\":2}"));
}

TEST(Picture, OfTenThousandPeersShowsTheFastestAndFitsItsBound) {
  ProcessPicture made = picture();
  made.peers.clear();
  for (std::uint64_t i = 1; i <= 10'000; ++i) {
    made.peers.push_back(peer(i, i));
    made.peers.back().rate = BitRate::from_bits_per_second(i);
  }
  const std::string json = to_json(made);
  EXPECT_LT(json.size(), kMaxPictureBytes);
  const auto read = parse_picture(json).value();
  EXPECT_EQ(read.peers.size(), kMaxShownPeers);
  EXPECT_EQ(read.peers_left_out, 9'000U);
  for (const PeerPicture& shown : read.peers) EXPECT_GT(shown.number, 9'000U);
  EXPECT_THAT(to_text(read), AllOf(HasSubstr("10000 sessions"), HasSubstr("and 9000 slower ones")));
}

TEST(Picture, IsReadByAPerson) {
  Rates rates;
  ProcessPicture made = picture();
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

TEST(Rates, AreOfTheTimeBetweenTwoPictures) {
  Rates rates;
  ProcessPicture made = picture();
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
  ProcessPicture made = picture();
  EndEvidence& evidence = made.peers.front().stats.evidence.here;
  auto& waited = evidence.held[static_cast<std::size_t>(Hold::source)];
  evidence.elapsed = waited = 10s;
  evidence.bytes_sent = 1000;
  rates.set(made, Rates::TimePoint() + 1h);
  EXPECT_EQ(made.peers.front().limited_by.word, "source");
  EXPECT_THAT(made.peers.front().limited_by.text, HasSubstr("since it began, "));
  evidence.elapsed = 20s;
  evidence.held[static_cast<std::size_t>(Hold::memory)] = 10s;
  evidence.bytes_sent += 10'000;
  evidence.memory_bytes = 1000;
  evidence.least_rtt = 1s;
  made.peers.front().stats.bytes_sent += 1000;
  rates.set(made, Rates::TimePoint() + 1h + 10s);
  EXPECT_EQ(made.peers.front().limited_by.word, "memory");
  EXPECT_THAT(made.peers.front().limited_by.text, HasSubstr("over the last 10 s, limited by --memory here"));
}

TEST(Rates, SayNothingOfLimitsWhereNothingMoved) {
  Rates rates;
  ProcessPicture made = picture();
  made.peers = {peer(1, 1000), peer(2, 0)};
  for (PeerPicture& each : made.peers) {
    EndEvidence& evidence = each.stats.evidence.here;
    evidence.elapsed = evidence.held[static_cast<std::size_t>(Hold::source)] = 10s;
  }
  rates.set(made, Rates::TimePoint() + 1h);
  EXPECT_EQ(made.peers[0].limited_by.word, "source");
  EXPECT_EQ(made.peers[1].limited_by.word, "") << "it is new, and has sent nothing";
  EndEvidence& evidence = made.peers[0].stats.evidence.here;
  evidence.elapsed = evidence.held[static_cast<std::size_t>(Hold::source)] = 20s;
  rates.set(made, Rates::TimePoint() + 1h + 10s);
  EXPECT_EQ(made.peers[0].limited_by.word, "");
  EXPECT_THAT(to_text(made), Not(HasSubstr("limited")));
  EXPECT_THAT(to_json(made), AllOf(HasSubstr("\"limited_by\":null"), Not(HasSubstr("\"limited_by\":\""))));
}

}  // namespace
}  // namespace udtcat::tool
