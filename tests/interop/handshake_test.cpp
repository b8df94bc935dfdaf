/// How connections begin: golden bytes, lost and doubled packets, and what neither end may believe.
#include <algorithm>
#include <array>
#include <set>

#include "interop/interop_fixture.hpp"

namespace udtcat::interop {
namespace {

using testing::ElementsAre;

constexpr std::uint32_t kIsn = 645103309;  // of a connection of two libudts
constexpr std::uint32_t kClientId = 0x2fd3ab96;

bool is_handshake(const PacketView& packet) { return packet.is(Type::handshake); }

std::array<std::uint32_t, 4> reversed_loopback(AddressFamily family) {
  if (family == AddressFamily::ipv6) return {0, 0, 0, 0x01000000};
  return {0x0100007f, 0, 0, 0};
}

struct Asked {
  std::optional<Heard> heard;
  std::optional<Handshake> handshake;
};

Asked ask(ScriptedPort& port, const Endpoint& server, const Handshake& question, std::uint32_t info = 0,
          std::chrono::milliseconds limit = 1s) {
  port.send(server, handshake_packet(question, 0, info));
  auto heard = port.hear_one(is_handshake, limit);
  return {heard, heard ? handshake_of(heard->view()) : std::nullopt};
}

// --- Our listener, asked by hand.

class OurListener : public testing::TestWithParam<AddressFamily> {
 protected:
  OurListener() { server = loopback(GetParam(), end.listen(GetParam())); }
  Handshake question() const {
    return {.initial_sequence = kIsn, .id = kClientId, .address = reversed_loopback(GetParam())};
  }
  /// The induction's answer, asked for again where it is lost.
  std::optional<std::uint32_t> cookie() {
    const auto reply = ask(port, server, question());
    return reply.handshake ? std::optional(reply.handshake->cookie) : std::nullopt;
  }

  OurEnd end;
  Endpoint server;
  ScriptedPort port{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(BothFamilies, OurListener, testing::Values(AddressFamily::ipv4, AddressFamily::ipv6),
                         [](const auto& row) { return row.param == AddressFamily::ipv6 ? "Ipv6" : "Ipv4"; });

TEST_P(OurListener, AnswersTheInductionAsLibudtDoes) {
  const auto [heard, reply] = ask(port, server, question());
  ASSERT_TRUE(reply) << port.log();
  EXPECT_EQ(heard->datagram.size(), kHeaderBytes + kHandshakeBytes) << "nothing more for who sent no marker";
  EXPECT_EQ(heard->view().header(0), 0x80000000U);
  EXPECT_EQ(heard->view().info(), 0U);
  EXPECT_EQ(heard->view().destination(), kClientId);
  EXPECT_EQ(heard->from, server);
  EXPECT_EQ(reply->version, 4U);
  EXPECT_EQ(reply->socket_type, 1U);
  EXPECT_EQ(reply->initial_sequence, kIsn);
  EXPECT_EQ(reply->request, kInduction);
  EXPECT_NE(reply->cookie, 0U);
  EXPECT_THAT(reply->address, testing::ElementsAreArray(reversed_loopback(GetParam())));
}

TEST_P(OurListener, AnswersTheConclusionAsLibudtDoes) {
  for (const auto& [offered, agreed] : {std::pair(1500U, 1500U), std::pair(600U, 600U), std::pair(76U, 76U)}) {
    ScriptedPort own(GetParam());
    Handshake wish = question();
    wish.mss = offered;
    auto first = ask(own, server, wish);
    ASSERT_TRUE(first.handshake) << own.log();
    wish.request = kConclusion;
    wish.cookie = first.handshake->cookie;
    const auto [heard, reply] = ask(own, server, wish);
    ASSERT_TRUE(reply) << own.log();
    EXPECT_EQ(heard->datagram.size(), kHeaderBytes + kHandshakeBytes);
    EXPECT_EQ(heard->view().header(0), 0x80000000U);
    EXPECT_EQ(heard->view().destination(), kClientId);
    EXPECT_EQ(reply->version, 4U);
    EXPECT_EQ(reply->socket_type, 1U);
    EXPECT_EQ(reply->initial_sequence, kIsn) << "both directions begin where the client says";
    EXPECT_EQ(reply->mss, agreed);
    EXPECT_GE(reply->window, 1024U) << "libudt's slow start ends where it exceeds this, and it never gets fast then";
    EXPECT_LT(reply->window, 1U << 24) << "libudt allocates 24 bytes for each";
    EXPECT_EQ(reply->request, kConclusion);
    EXPECT_NE(reply->id, kClientId);
    EXPECT_GE(reply->id, 1U);
    EXPECT_LE(reply->id, kSequenceMask);
    EXPECT_EQ(reply->cookie, wish.cookie);
    EXPECT_THAT(reply->address, testing::ElementsAreArray(reversed_loopback(GetParam())));
  }
}

TEST_P(OurListener, NeverAgreesToMoreThanTheClientOffers) {
  Handshake wish = question();
  wish.mss = 9000;
  const auto peer = ScriptedPeer::connect(port, server, wish);
  ASSERT_TRUE(peer) << port.log();
  EXPECT_LE(peer->theirs().mss, 9000U);
  EXPECT_GE(peer->theirs().mss, 1280U);
}

TEST_P(OurListener, SendsItsFirstPacketFromTheClientsSequenceNumber) {
  end.start_accept();
  auto peer = ScriptedPeer::connect(port, server, question());
  ASSERT_TRUE(peer) << port.log();
  const auto channel = end.accepted(2s);
  ASSERT_TRUE(channel);
  channel->start_write(Pattern(1).bytes(0, 100));
  const auto data = peer->wait_for([](auto& packet) { return packet.is_data(); }, 2s);
  ASSERT_TRUE(data) << port.log();
  EXPECT_EQ(data->view().sequence(), kIsn);
  EXPECT_EQ(data->view().destination(), kClientId);
  EXPECT_EQ(Pattern(1).difference(0, data->view().payload()), std::nullopt);
}

TEST_P(OurListener, AnswersARepeatedConclusionAlikeForALongTime) {
  end.start_accept();
  Handshake wish = question();
  wish.cookie = cookie().value_or(0);
  wish.request = kConclusion;
  const auto first = ask(port, server, wish);
  ASSERT_TRUE(first.handshake) << port.log();
  const auto channel = end.accepted(2s);
  ASSERT_TRUE(channel);
  for (int i = 0; i < 3; ++i) {
    const auto again = ask(port, server, wish);
    ASSERT_TRUE(again.heard) << port.log();
    EXPECT_EQ(again.heard->datagram, first.heard->datagram);
    port.send(server,
              data_packet(advanced(kIsn, i), first.handshake->id, Pattern(1).bytes(static_cast<unsigned>(i) * 10, 10)));
  }
  std::array<std::byte, 30> got{};
  EXPECT_EQ(channel->read(got), "") << port.log();
  end.start_accept();
  EXPECT_FALSE(end.accepted(100ms)) << "one connection, not four";
}

TEST_P(OurListener, TellsConnectionsOfOnePortApart) {
  std::set<std::uint32_t> ids;
  std::vector<std::unique_ptr<OurChannel>> channels;
  std::vector<ScriptedPeer> peers;
  // libudt confounds those of one port that begin alike and whose numbers differ by 4.
  for (std::uint32_t i = 0; i < 5; ++i) {
    end.start_accept();
    Handshake wish = question();
    wish.id = kClientId + 4 * i;
    auto peer = ScriptedPeer::connect(port, server, wish);
    ASSERT_TRUE(peer) << port.log();
    ids.insert(peer->theirs().id);
    channels.push_back(end.accepted(2s));
    ASSERT_TRUE(channels.back());
    peers.push_back(*peer);
  }
  EXPECT_EQ(ids.size(), 5U);
  for (std::size_t i = 0; i < peers.size(); ++i) peers[i].send_data(Pattern(i).bytes(0, 100));
  for (std::size_t i = 0; i < peers.size(); ++i) {
    std::vector<std::byte> got(100);
    EXPECT_EQ(channels[i]->read(got), "") << port.log();
    EXPECT_EQ(Pattern(i).difference(0, got), std::nullopt) << "connection " << i;
  }
}

TEST_P(OurListener, KeepsSilentWithoutACookie) {
  end.start_accept();
  Handshake wish = question();
  wish.request = kConclusion;
  wish.cookie = 0x12345678;
  EXPECT_FALSE(ask(port, server, wish, 0, 300ms).heard) << port.log();
  wish.cookie = cookie().value_or(0) ^ 1;
  EXPECT_FALSE(ask(port, server, wish, 0, 300ms).heard) << port.log();
  EXPECT_FALSE(end.accepted(1ms));
}

TEST_P(OurListener, MakesItsCookieForOneAddress) {
  Handshake wish = question();
  wish.request = kConclusion;
  wish.cookie = cookie().value_or(0);
  ScriptedPort other(GetParam());
  EXPECT_FALSE(ask(other, server, wish, 0, 300ms).heard) << other.log();
}

TEST_P(OurListener, AcceptsACookieOfThePreviousMinuteSoak) {
  end.start_accept();
  Handshake wish = question();
  wish.request = kConclusion;
  wish.cookie = cookie().value_or(0);
  let_pass(61s);
  EXPECT_TRUE(ask(port, server, wish).heard) << port.log();
}

TEST_P(OurListener, IgnoresHandshakesOfOtherLengths) {
  for (const std::size_t bytes : {0U, 4U, 44U, 47U, 49U, 52U, 64U}) {
    Bytes body = to_bytes(question().words());
    body.resize(bytes);
    port.send(server, control_packet(0x80000000, 0, 0, body));
    EXPECT_FALSE(port.hear(100ms)) << bytes << " bytes" << port.log();
  }
}

TEST_P(OurListener, IgnoresARendezvous) {
  Handshake wish = question();
  wish.request = 0;
  EXPECT_FALSE(ask(port, server, wish, 0, 300ms).heard) << port.log();
}

// libudt echoes it unchanged; that is how our connector tells the two apart.
TEST_P(OurListener, AnswersTheMarkerOfOurConnectorWithAnother) {
  end.start_connect(port.endpoint(), 500ms);
  const auto ours = port.hear_one(is_handshake, 2s);
  ASSERT_TRUE(ours) << port.log();
  const std::uint32_t marker = ours->view().info();
  if (marker == 0) GTEST_SKIP() << "our connector sends no marker";
  ScriptedPort own(GetParam());
  const auto [heard, reply] = ask(own, server, question(), marker);
  ASSERT_TRUE(reply) << own.log();
  EXPECT_NE(heard->view().info(), marker) << own.log();
  EXPECT_EQ(reply->request, kInduction);
  const auto unmarked = ask(own, server, question());
  ASSERT_TRUE(unmarked.heard);
  EXPECT_NE(heard->view().info(), unmarked.heard->view().info()) << own.log();
}

TEST_P(OurListener, RefusesOrIgnoresOddConclusionsAndLivesOn) {
  struct Odd {
    const char* what;
    std::function<void(Handshake&)> change;
  };
  const std::vector<Odd> odds{
      {"version 3", [](Handshake& h) { h.version = 3; }},
      {"version 5", [](Handshake& h) { h.version = 5; }},
      {"datagram mode", [](Handshake& h) { h.socket_type = 2; }},
      {"type 0", [](Handshake& h) { h.socket_type = 0; }},
      {"no MSS", [](Handshake& h) { h.mss = 0; }},
      {"MSS 43", [](Handshake& h) { h.mss = 43; }},
      {"MSS 44", [](Handshake& h) { h.mss = 44; }},
      {"negative MSS", [](Handshake& h) { h.mss = 0xffffffff; }},
      {"no window", [](Handshake& h) { h.window = 0; }},
      {"negative window", [](Handshake& h) { h.window = 0xffffffff; }},
      {"no number", [](Handshake& h) { h.id = 0; }},
      {"negative number", [](Handshake& h) { h.id = 0x80000001; }},
      {"beginning beyond the sequence numbers", [](Handshake& h) { h.initial_sequence = 0x80000000; }},
  };
  for (const Odd& odd : odds) {
    ScriptedPort own(GetParam());
    Handshake wish = question();
    odd.change(wish);
    const auto first = ask(own, server, wish, 0, 200ms);
    wish.request = kConclusion;
    wish.cookie = first.handshake ? first.handshake->cookie : cookie().value_or(0);
    const auto second = ask(own, server, wish, 0, 200ms);
    if (second.handshake) {
      EXPECT_EQ(second.handshake->request, kReject) << odd.what << own.log();
    }
  }
  EXPECT_TRUE(cookie()) << "it lives on";
}

// Not to be agreed to as they are, but no reason to refuse either.
TEST_P(OurListener, CapsAnAbsurdWindow) {
  Handshake wish = question();
  wish.window = 0x7fffffff;
  end.start_accept();
  auto peer = ScriptedPeer::connect(port, server, wish, 1s);
  if (!peer) return;  // refused: as libudt does
  const auto channel = end.accepted(2s);
  ASSERT_TRUE(channel);
  channel->start_write(Pattern(1).bytes(0, 10'000));
  EXPECT_EQ(peer->collect(10'000, 3s).size(), 10'000U) << port.log();
}

TEST(OurListenerOnAllAddresses, AnswersFromTheOneThatWasAsked) {
  OurEnd end;
  const Endpoint any = resolve({"0.0.0.0", 0}, AddressFamily::ipv4).value().front();
  const std::uint16_t port_number = end.listen(AddressFamily::ipv4, any);
  const Endpoint second = resolve({"127.0.0.2", port_number}, AddressFamily::ipv4).value().front();
  ScriptedPort port;
  Handshake wish{.initial_sequence = kIsn, .id = kClientId, .address = {0x0200007f, 0, 0, 0}};
  end.start_accept();
  const auto reply = ask(port, second, wish);
  ASSERT_TRUE(reply.heard) << port.log();
  EXPECT_EQ(reply.heard->from, second) << reply.heard->from.to_string();
  auto peer = ScriptedPeer::connect(port, second, wish);
  ASSERT_TRUE(peer);
  const auto channel = end.accepted(2s);
  ASSERT_TRUE(channel);
  channel->start_write(std::vector<std::byte>(1));
  const auto data = port.hear_one([](auto& packet) { return packet.is_data(); }, 2s);
  ASSERT_TRUE(data) << port.log();
  EXPECT_EQ(data->from, second) << data->from.to_string();
}

// --- Our connector, answered by hand.

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
  // Whoever ignores the bad answer asks again and gets a good one; giving up is allowed as well.
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

// --- Both against libudt.

class Agreement : public ByRole {};
UDTCAT_FOR_BOTH_ROLES(Agreement);

TEST_P(Agreement, IsOnTheSmallerMssAndOneBeginning) {
  for (const int mss : {1500, 600, 9000}) {
    Link link = make_link(role(), {.raw = {.mss = mss}, .relayed = true});
    ASSERT_TRUE(link.up());
    carry(link, Flow::both, 100'000, 5s);
    const auto answers = link.relay->captured(Towards::connector, is_handshake);
    ASSERT_GE(answers.size(), 2U);
    const Handshake agreed = *handshake_of(answers.back().view());
    EXPECT_EQ(agreed.request, kConclusion);
    EXPECT_LE(agreed.mss, static_cast<std::uint32_t>(mss));
    if (mss != 9000) {
      EXPECT_EQ(agreed.mss, static_cast<std::uint32_t>(mss));
    }
    for (const Towards towards : {Towards::listener, Towards::connector}) {
      const auto data = link.relay->captured(towards, [](auto& packet) { return packet.is_data(); });
      ASSERT_FALSE(data.empty());
      EXPECT_EQ(data.front().view().sequence(), agreed.initial_sequence);
      for (const Captured& each : data) ASSERT_LE(each.datagram_bytes - kHeaderBytes, agreed.mss - kMssOverheadBytes);
    }
  }
}

enum class Mishap { drop, duplicate };
/// The packets of a handshake in their order.
struct Step {
  const char* name;
  Towards towards;
  std::uint32_t request;
};
constexpr std::array kSteps{
    Step{"Induction", Towards::listener, kInduction}, Step{"Cookie", Towards::connector, kInduction},
    Step{"Conclusion", Towards::listener, kConclusion}, Step{"Answer", Towards::connector, kConclusion}};

class HandshakeMishap : public testing::TestWithParam<std::tuple<Role, Mishap, Step>> {};

INSTANTIATE_TEST_SUITE_P(BothRoles, HandshakeMishap,
                         testing::Combine(testing::Values(Role::connects, Role::listens),
                                          testing::Values(Mishap::drop, Mishap::duplicate), testing::ValuesIn(kSteps)),
                         [](const auto& row) {
                           return name_of(std::get<0>(row.param)) +
                                  (std::get<1>(row.param) == Mishap::drop ? "WithALost" : "WithADoubled") +
                                  std::get<2>(row.param).name;
                         });

TEST_P(HandshakeMishap, DelaysButDoesNotPrevent) {
  const auto [role, mishap, step] = GetParam();
  bool happened = false;
  const auto begin = Clock::now();
  Link link = make_link(role, {.relayed = true, .prepare = [&, mishap = mishap, step = step](UdpRelay& relay) {
                                 relay.rule(step.towards, [&, mishap, step](const PacketView& packet) {
                                   const auto handshake = handshake_of(packet);
                                   if (happened || !handshake || handshake->request != step.request) return Fate{};
                                   happened = true;
                                   return mishap == Mishap::drop ? Fate{.drop = true} : Fate{.copies = 3};
                                 });
                               }});
  ASSERT_TRUE(link.up());
  EXPECT_LT(Clock::now() - begin, 2500ms) << link.tell();
  carry(link, Flow::both, 50'000, 5s);
  EXPECT_TRUE(happened);
}

// libudt's cookie is of the minute since its listener began, and one of the minute before never verifies.
TEST(OurConnectorAtLibudts, ConnectsOverTheListenersMinuteSoak) {
  RawListener listener;
  let_pass(59'500ms);
  UdpRelay relay(listener.port());
  relay.capture();
  relay.rule(Towards::listener, [held = false](const PacketView& packet) mutable {
    const auto handshake = handshake_of(packet);
    if (held || !handshake || handshake->request != kConclusion) return Fate{};
    held = true;
    return Fate{.delay = 1s};
  });
  relay.impair(Towards::listener, {.delay_of_all = 400ms});
  OurEnd end;
  const auto connected = end.connect(loopback(AddressFamily::ipv4, relay.port()), 10s);
  EXPECT_TRUE(connected) << connected.error().message() << relay.last_words();
}

}  // namespace
}  // namespace udtcat::interop
