// SPDX-License-Identifier: Apache-2.0
/// How our connector asks, answered by hand: golden bytes, and what it may not believe.
#include <algorithm>
#include <set>

#include "interop/handshake_support.hpp"

namespace udtcat::test::interop {
namespace {

using testing::ElementsAre;

class OurConnector : public testing::TestWithParam<AddressFamily> {
 protected:
  void start(std::chrono::milliseconds patience = 10s) { end.start_connect(port.endpoint(), patience); }
  std::optional<Heard> question(std::uint32_t request, std::chrono::milliseconds limit = 3s) {
    return port.hear_one(
        [&](auto& packet) {
          const auto handshake = handshake_of(packet);
          return handshake && handshake->request == request;
        },
        limit);
  }
  void answer(const Heard& asked, const Handshake& reply) {
    port.send(asked.from, handshake_packet(reply, handshake_of(asked.view())->id));
  }
  /// Answers inductions until the conclusion comes.
  std::optional<Heard> conclusion(std::uint32_t cookie = 0xcafe) {
    const auto deadline = Clock::now() + 5s;
    while (Clock::now() < deadline) {
      const auto asked = port.hear_one([](auto& packet) { return handshake_of(packet).has_value(); }, 1s);
      if (!asked) continue;
      Handshake reply = *handshake_of(asked->view());
      if (reply.request == kConclusion) return asked;
      reply.cookie = cookie;
      answer(*asked, reply);
    }
    return std::nullopt;
  }
  static Handshake good_answer(const Heard& asked) {
    Handshake reply = *handshake_of(asked.view());
    reply.id = 0x162d04fa;
    reply.mss = std::min(reply.mss, 1500U);
    reply.window = 8192;
    return reply;
  }

  OurEnd end;
  ScriptedPort port{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(BothFamilies, OurConnector, testing::Values(AddressFamily::ipv4, AddressFamily::ipv6),
                         [](const auto& row) { return row.param == AddressFamily::ipv6 ? "Ipv6" : "Ipv4"; });

TEST_P(OurConnector, AsksAsLibudtDoes) {
  start();
  const auto asked = question(kInduction);
  ASSERT_TRUE(asked) << port.log();
  const Handshake first = *handshake_of(asked->view());
  EXPECT_EQ(asked->datagram.size(), kHeaderBytes + kHandshakeBytes);
  EXPECT_EQ(asked->view().header(0), 0x80000000U);
  EXPECT_EQ(asked->view().destination(), 0U);
  EXPECT_EQ(first.version, 4U);
  EXPECT_EQ(first.socket_type, 1U);
  EXPECT_LE(first.initial_sequence, kSequenceMask);
  EXPECT_GE(first.mss, 1280U);
  EXPECT_LE(first.mss, 65535U);
  EXPECT_GE(first.window, 1024U) << "libudt's slow start ends where it exceeds this, and it never gets fast then";
  EXPECT_LT(first.window, 1U << 24) << "libudt allocates 24 bytes for each";
  EXPECT_GE(first.id, 1U);
  EXPECT_LE(first.id, kSequenceMask);
  EXPECT_EQ(first.cookie, 0U);
  EXPECT_THAT(first.address, testing::ElementsAreArray(reversed_loopback(GetParam())));
  const auto concluded = conclusion(0xf7d2fb55);
  ASSERT_TRUE(concluded) << port.log();
  const Handshake second = *handshake_of(concluded->view());
  EXPECT_EQ(concluded->datagram.size(), kHeaderBytes + kHandshakeBytes);
  EXPECT_EQ(concluded->view().destination(), 0U);
  EXPECT_EQ(second.cookie, 0xf7d2fb55U);
  EXPECT_EQ(second.initial_sequence, first.initial_sequence);
  EXPECT_EQ(second.id, first.id);
  EXPECT_EQ(second.mss, first.mss);
  EXPECT_EQ(second.window, first.window);
  answer(*concluded, good_answer(*concluded));
  const auto channel = end.connected(2s);
  ASSERT_TRUE(channel) << channel.error().message();
  (*channel)->start_write(Pattern(1).bytes(0, 100));
  const auto data = port.hear_one([](auto& packet) { return packet.is_data(); }, 2s);
  ASSERT_TRUE(data) << port.log();
  EXPECT_EQ(data->view().sequence(), first.initial_sequence);
  EXPECT_EQ(data->view().destination(), 0x162d04faU);
}

TEST_P(OurConnector, BeginsEachConnectionElsewhere) {
  std::set<std::uint32_t> sequences;
  std::set<std::uint32_t> ids;
  for (int i = 0; i < 4; ++i) {
    start();
    const auto asked = conclusion();
    ASSERT_TRUE(asked) << port.log();
    answer(*asked, good_answer(*asked));
    ASSERT_TRUE(end.connected(2s));
    sequences.insert(handshake_of(asked->view())->initial_sequence);
    ids.insert(handshake_of(asked->view())->id);
  }
  EXPECT_EQ(sequences.size(), 4U);
  EXPECT_EQ(ids.size(), 4U);
}

TEST_P(OurConnector, AsksAgainUntilItsPatienceIsOver) {
  const auto begin = Clock::now();
  start(4s);
  std::size_t times = 0;
  while (Clock::now() - begin < 3500ms)
    if (question(kInduction, 500ms)) ++times;
  EXPECT_GE(times, 7U) << "libudt asks every 256 ms";
  EXPECT_LE(times, 40U);
  const auto result = end.connected(3s);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::cannot_reach) << result.error().message();
  EXPECT_LT(Clock::now() - begin, 5500ms);
}

// libudt gives up after 3 s; a path may be away for longer.
TEST_P(OurConnector, ConnectsToWhoAnswersLate) {
  start(10s);
  std::ignore = port.hear_all(4s);
  const auto asked = conclusion();
  ASSERT_TRUE(asked) << port.log();
  answer(*asked, good_answer(*asked));
  EXPECT_TRUE(end.connected(2s));
}

// A libudt listener never verifies a cookie of the minute before.
TEST_P(OurConnector, BeginsAgainWhereTheConclusionStaysUnanswered) {
  start(10s);
  ASSERT_TRUE(conclusion(0xaaaa)) << port.log();
  const auto begin = Clock::now();
  const auto again = question(kInduction, 4s);
  ASSERT_TRUE(again) << "it insists on a cookie that nobody knows any more\n" << port.log();
  EXPECT_LT(Clock::now() - begin, 3s);
  Handshake reply = *handshake_of(again->view());
  reply.cookie = 0xbbbb;
  answer(*again, reply);
  const auto concluded = port.hear_one(
      [](auto& packet) {
        const auto handshake = handshake_of(packet);
        return handshake && handshake->request == kConclusion && handshake->cookie == 0xbbbb;
      },
      3s);
  ASSERT_TRUE(concluded) << port.log();
  answer(*concluded, good_answer(*concluded));
  EXPECT_TRUE(end.connected(2s));
}

TEST_P(OurConnector, StartsNoStormOverRepeatedAnswers) {
  start(10s);
  const auto asked = question(kInduction);
  ASSERT_TRUE(asked) << port.log();
  Handshake reply = *handshake_of(asked->view());
  reply.cookie = 0xcafe;
  for (int i = 0; i < 50; ++i) answer(*asked, reply);
  EXPECT_LE(port.hear_all(200ms).size(), 4U) << port.log();
}

TEST_P(OurConnector, TakesARefusalForAnAnswer) {
  const auto begin = Clock::now();
  start(10s);
  const auto asked = conclusion();
  ASSERT_TRUE(asked) << port.log();
  Handshake reply = *handshake_of(asked->view());
  reply.request = kReject;
  answer(*asked, reply);
  const auto result = end.connected(3s);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Errc::cannot_reach) << result.error().message();
  EXPECT_LT(Clock::now() - begin, 3s);
}

struct BadAnswer {
  const char* what;
  std::function<void(Handshake&)> change;
};

const std::vector<BadAnswer>& bad_answers() {
  static const std::vector<BadAnswer> all{
      {"Version9", [](Handshake& h) { h.version = 9; }},
      {"Version0", [](Handshake& h) { h.version = 0; }},
      {"DatagramMode", [](Handshake& h) { h.socket_type = 2; }},
      {"Type7", [](Handshake& h) { h.socket_type = 7; }},
      {"AnotherBeginning", [](Handshake& h) { h.initial_sequence ^= 0x100; }},
      {"ABeginningOutOfRange", [](Handshake& h) { h.initial_sequence |= kControlBit; }},
      {"NoMss", [](Handshake& h) { h.mss = 0; }},
      {"Mss43", [](Handshake& h) { h.mss = 43; }},
      {"Mss44", [](Handshake& h) { h.mss = 44; }},
      {"Mss75", [](Handshake& h) { h.mss = 75; }},
      {"ANegativeMss", [](Handshake& h) { h.mss = 0xffffffff; }},
      {"MoreThanOffered", [](Handshake& h) { h.mss = 70'000; }},
      {"NoWindow", [](Handshake& h) { h.window = 0; }},
      {"ANegativeWindow", [](Handshake& h) { h.window = 0xffffffff; }},
      {"NoNumber", [](Handshake& h) { h.id = 0; }},
      {"ANegativeNumber", [](Handshake& h) { h.id = 0x80000001; }},
      {"Request0", [](Handshake& h) { h.request = 0; }},
      {"Request1003", [](Handshake& h) { h.request = 1003; }},
      {"RequestMinus2", [](Handshake& h) { h.request = 0xfffffffe; }},
  };
  return all;
}

class OurConnectorAnsweredBadly : public testing::TestWithParam<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(With, OurConnectorAnsweredBadly, testing::Range(std::size_t{0}, bad_answers().size()),
                         [](const auto& row) { return bad_answers()[row.param].what; });

TEST_P(OurConnectorAnsweredBadly, ConnectsWithTheGoodAnswerOrNotAtAll) {
  OurEnd end;
  ScriptedPort port;
  end.start_connect(port.endpoint(), 3s);
  bool answered_badly = false;
  // A connector that ignores the bad answer asks again and gets a good one; giving up is allowed as well.
  const auto deadline = Clock::now() + 4s;
  while (Clock::now() < deadline) {
    const auto asked = port.hear_one([](auto& packet) { return handshake_of(packet).has_value(); }, 300ms);
    if (!asked) continue;
    const Handshake theirs = *handshake_of(asked->view());
    Handshake reply = theirs;
    if (theirs.request == kInduction) {
      reply.cookie = 0xcafe;
    } else {
      reply.id = 0x1111;
      reply.mss = std::min(reply.mss, 1500U);
      reply.window = 8192;
      if (!answered_badly) bad_answers()[GetParam()].change(reply);
      answered_badly = true;
    }
    port.send(asked->from, handshake_packet(reply, theirs.id));
    auto connected = end.connected(20ms);
    if (!connected && connected.error().message().find("no word of it") != std::string::npos) continue;
    if (!connected) return;
    // With the bad one it must not be: then the good one was not asked for.
    Handshake mine = reply;
    mine.initial_sequence = theirs.initial_sequence;
    mine.mss = std::min(theirs.mss, 1500U);
    ScriptedPeer peer(port, asked->from, mine, theirs);
    (*connected)->start_write(Pattern(1).bytes(0, 5000));
    const auto bytes = peer.collect(5000, 2s);
    EXPECT_EQ(bytes.size(), 5000U) << port.log();
    EXPECT_EQ(Pattern(1).difference(0, bytes), std::nullopt) << port.log();
    return;
  }
  EXPECT_TRUE(answered_badly) << port.log();
}

TEST_P(OurConnector, HeedsNobodyButWhomItAsked) {
  start(5s);
  const auto asked = conclusion();
  ASSERT_TRUE(asked) << port.log();
  const Handshake theirs = *handshake_of(asked->view());
  ScriptedPort stranger(GetParam());
  Handshake lie = good_answer(*asked);
  lie.id = 0x666;
  stranger.send(asked->from, handshake_packet(lie, theirs.id));
  port.send(asked->from, handshake_packet(lie, theirs.id ^ 1));
  EXPECT_FALSE(end.connected(200ms)) << "an answer from elsewhere, and one for somebody else";
  answer(*asked, good_answer(*asked));
  EXPECT_TRUE(end.connected(2s));
}

}  // namespace
}  // namespace udtcat::test::interop
