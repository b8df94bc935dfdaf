// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/passive_open.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

class Cookies : public testing::Test {
 protected:
  CookieJar jar = CookieJar::create(1min).value();
  Endpoint client = endpoint("192.0.2.1", 1000);
  std::uint32_t cookie = jar.make(kStart, client, 5).value();
};

TEST_F(Cookies, AreAcceptedFromTheClientThatGotThem) {
  EXPECT_NE(cookie, 0U);
  EXPECT_TRUE(jar.accepts(kStart, client, 5, cookie));
  EXPECT_TRUE(jar.accepts(kStart + 1min, client, 5, cookie));
}

TEST_F(Cookies, AreRefusedFromAnother) {
  EXPECT_FALSE(jar.accepts(kStart, client.with_port(1001), 5, cookie));
  EXPECT_FALSE(jar.accepts(kStart, endpoint("192.0.2.2", 1000), 5, cookie));
  EXPECT_FALSE(jar.accepts(kStart, endpoint("2001:db8::1", 1000), 5, cookie));
  EXPECT_FALSE(jar.accepts(kStart, client, 6, cookie));
  EXPECT_FALSE(jar.accepts(kStart, client, 5, cookie ^ 2));
  EXPECT_FALSE(jar.accepts(kStart, client, 5, 0));
}

TEST_F(Cookies, ExpireAfterTwoMinutes) {
  EXPECT_FALSE(jar.accepts(kStart + 2min, client, 5, cookie));
  EXPECT_FALSE(jar.accepts(kStart - 1min, client, 5, cookie)) << "nor before it was made";
}

TEST_F(Cookies, AreRefusedAtAnotherPort) {
  CookieJar other = CookieJar::create(1min).value();
  EXPECT_FALSE(other.accepts(kStart, client, 5, cookie));
}

TEST_F(Cookies, UnderAKeyAreAcceptedByEveryJarWithIt) {
  std::array<std::byte, crypto::KeyedHash::kKeyBytes> key{};
  CookieJar before = CookieJar::create(1h, key).value();
  CookieJar after = CookieJar::create(1h, key).value();
  const auto given = before.make(kStart, client, 0).value();
  EXPECT_TRUE(after.accepts(kStart + 1h, client, 0, given));
  EXPECT_FALSE(after.accepts(kStart + 2h, client, 0, given));
  key[0] = std::byte{1};
  EXPECT_FALSE(CookieJar::create(1h, key)->accepts(kStart, client, 0, given));
}

/// A listener, and a client that sends what the test says.
class PassiveOpenTest : public testing::Test {
 protected:
  explicit PassiveOpenTest(KeyProof* key_proof = nullptr, std::optional<std::uint32_t> known_cookie = std::nullopt)
      : listener(PassiveOpen::create({1500, 360, known_cookie}, key_proof).value()) {}

  PassiveOpen::Outcome ask(const HandshakePacket& handshake, std::uint32_t additional = 0,
                           const std::optional<HandshakeExtension>& extension = std::nullopt) {
    return ask_with(encode(handshake, 0, additional, extension));
  }
  PassiveOpen::Outcome ask_with(const std::vector<std::byte>& packet) {
    return listener->handle(now, packet, client, [this](bool) -> std::optional<PassiveOpen::Numbers> {
      ++lots;
      if (full) return std::nullopt;
      return PassiveOpen::Numbers{42, 4242};
    });
  }
  static HandshakePacket decoded(const std::vector<std::byte>& packet) {
    return decode_handshake(std::span(packet).subspan(kHeaderBytes)).value();
  }
  static auto extension_of(const std::vector<std::byte>& packet) {
    return decode_extension(std::span(packet).subspan(kHeaderBytes));
  }
  HandshakePacket conclusion() {
    HandshakePacket with_cookie = decoded(ask(induction).reply);
    with_cookie.request = Request::conclusion;
    return with_cookie;
  }

  HandshakePacket induction{.initial_sequence = 1000, .mss = 1400, .flow_window = 100, .socket_id = 5};
  Endpoint client = endpoint("192.0.2.1", 1000);
  TimePoint now = kStart;
  bool full = false;
  int lots = 0;
  std::optional<PassiveOpen> listener;
};

struct ListenerKey {
  KeyProof key_proof = key_proof_of(1);
};

/// A listener with a key, and clients that have it or not.
class PassiveOpenWithAKey : protected ListenerKey, public PassiveOpenTest {
 protected:
  PassiveOpenWithAKey() : PassiveOpenTest(&key_proof, 77) {}
  HandshakePacket proved(HandshakePacket handshake, std::uint32_t additional,
                         const std::optional<HandshakeExtension>& extension) {
    handshake.address = key_proof.make(handshake, additional, extension).value();
    return handshake;
  }
  PassiveOpen::Outcome ask_with_proof(const HandshakePacket& handshake,
                                      std::optional<HandshakeExtension> extension = {}) {
    return ask(proved(handshake, kMarker, extension), kMarker, extension);
  }
  int answered_of(int inductions) {
    int answered = 0;
    for (int i = 0; i < inductions; ++i) answered += ask(induction).reply.empty() ? 0 : 1;
    return answered;
  }
};

TEST_F(PassiveOpenTest, AnswersAnInductionWithACookieAndKeepsNothing) {
  const auto outcome = ask(induction, kMarker - 1);
  const HandshakePacket reply = decoded(outcome.reply);
  EXPECT_NE(reply.cookie, 0U);
  EXPECT_EQ(reply.socket_id, 5U);
  EXPECT_EQ(decode_control_header(outcome.reply).destination, 5U);
  EXPECT_EQ(decode_control_header(outcome.reply).additional, kMarker - 1) << "as it came";
  EXPECT_EQ(outcome.reply.size(), kHeaderBytes + kHandshakeBytes);
  EXPECT_FALSE(outcome.accepted);
  EXPECT_EQ(lots, 0);
}

TEST_F(PassiveOpenTest, AnswersTheMarkerOfOneOfOurs) {
  const auto outcome = ask(induction, kMarker);
  EXPECT_EQ(decode_control_header(outcome.reply).additional, kMarkerAnswer);
  EXPECT_TRUE(extension_of(outcome.reply));
  EXPECT_LT(outcome.reply.size() + 28, (kHeaderBytes + kHandshakeBytes + 28) * 5 / 4) << "hardly amplifies";
}

TEST_F(PassiveOpenTest, AcceptsAPlainClient) {
  const auto outcome = ask(conclusion());
  ASSERT_TRUE(outcome.accepted);
  EXPECT_EQ(outcome.accepted->peer, PeerKind::plain);
  EXPECT_EQ(outcome.accepted->local_id, 42U);
  EXPECT_EQ(outcome.accepted->peer_id, 5U);
  EXPECT_EQ(outcome.accepted->mss, 1400U);
  EXPECT_GE(outcome.accepted->hold, 8ms);
  const HandshakePacket reply = decoded(outcome.reply);
  EXPECT_EQ(reply.request, Request::conclusion);
  EXPECT_EQ(reply.socket_id, 42U);
  EXPECT_EQ(reply.mss, 1400U);
  EXPECT_EQ(reply.flow_window, 360U);
}

TEST_F(PassiveOpenWithAKey, AcceptsTheKnownCookieFromAnyAddress) {
  HandshakePacket request = induction;
  request.request = Request::conclusion;
  for (const std::uint32_t wrong : {0U, 76U}) {
    request.cookie = wrong;
    EXPECT_FALSE(ask_with_proof(request, HandshakeExtension{7}).accepted) << wrong;
  }
  request.cookie = 77;
  EXPECT_FALSE(ask(request, kMarker, HandshakeExtension{7}).accepted) << "32 bits may be guessed";
  EXPECT_TRUE(ask_with_proof(request, HandshakeExtension{7}).accepted);
  EXPECT_FALSE(ask(induction, kMarker).reply.empty()) << "strangers are heard as ever";
}

TEST_F(PassiveOpenWithAKey, AcceptsTheCookieOfAnEarlierConnectionForAnHour) {
  std::array<std::byte, crypto::KeyedHash::kKeyBytes> key{};
  const auto reopen = [&] {
    listener.emplace(PassiveOpen::create({1500, 360, std::nullopt}, &key_proof, key).value());
  };
  reopen();
  HandshakePacket request = decoded(ask_with_proof(induction).reply);
  request.request = Request::conclusion;
  const auto first = ask_with_proof(request, HandshakeExtension{7});
  ASSERT_TRUE(first.accepted);
  request.cookie = extension_of(first.reply)->next_cookie;
  ASSERT_NE(request.cookie, 0U);
  reopen();  // as the next process on this host does, with the same key
  now += 50min;
  client = client.with_port(4711);
  request.socket_id = 6;
  EXPECT_TRUE(ask_with_proof(request, HandshakeExtension{8}).accepted);
  EXPECT_FALSE(ask(request, kMarker, HandshakeExtension{8}).accepted) << "without the proof";
  now += 2h;
  EXPECT_FALSE(ask_with_proof(request, HandshakeExtension{8}).accepted);
  now -= 2h;
  client = endpoint("192.0.2.77", 4711);
  EXPECT_FALSE(ask_with_proof(request, HandshakeExtension{8}).accepted) << "another host";
}

TEST_F(PassiveOpenWithAKey, AcceptsCookiesOfEarlierConnectionsAtALimitedRate) {
  std::array<std::byte, crypto::KeyedHash::kKeyBytes> key{};
  listener.emplace(PassiveOpen::create({1500, 360, std::nullopt}, &key_proof, key).value());
  HandshakePacket request = decoded(ask_with_proof(induction).reply);
  request.request = Request::conclusion;
  request.cookie = extension_of(ask_with_proof(request, HandshakeExtension{7}).reply)->next_cookie;
  int taken = 0;
  for (std::uint16_t port = 2000; port < 2100; ++port) {  // a recorded packet, from forged ports
    client = client.with_port(port);
    taken += ask_with_proof(request, HandshakeExtension{7}).accepted ? 1 : 0;
  }
  EXPECT_GE(taken, 1);
  EXPECT_LE(taken, 16);
}

TEST_F(PassiveOpenTest, WithoutAKeyGivesNoCookieForTheNextConnection) {
  const auto outcome = ask(conclusion(), 0, HandshakeExtension{777});
  EXPECT_EQ(extension_of(outcome.reply)->next_cookie, 0U);
}

TEST_F(PassiveOpenWithAKey, SaysWhetherAClientProvesTheKey) {
  HandshakePacket request = decoded(ask_with_proof(induction).reply);
  request.request = Request::conclusion;
  const auto outcome = ask_with_proof(request, HandshakeExtension{777});
  ASSERT_TRUE(outcome.accepted);
  EXPECT_TRUE(outcome.proved);
}

TEST_F(PassiveOpenWithAKey, AcceptsAClientWithoutAProofAsOne) {
  const auto outcome = ask(conclusion(), 0, HandshakeExtension{777});
  ASSERT_TRUE(outcome.accepted);
  EXPECT_FALSE(outcome.proved);
}

TEST_F(PassiveOpenWithAKey, RefusesAProofOfAnotherPacket) {
  HandshakePacket request = decoded(ask_with_proof(induction).reply);
  request.request = Request::conclusion;
  request = proved(request, kMarker, HandshakeExtension{777});
  EXPECT_FALSE(ask(request, kMarker, HandshakeExtension{778}).proved) << "another token";
  ++request.initial_sequence;
  EXPECT_FALSE(ask(request, kMarker, HandshakeExtension{777}).proved) << "another sequence";
}

TEST_F(PassiveOpenWithAKey, AnswersClientsWithoutAProofAtALimitedRate) {
  EXPECT_EQ(answered_of(1000), 100);
  EXPECT_FALSE(ask_with_proof(induction).reply.empty()) << "who holds the key is always heard";
  int others = 0;
  for (const char* address : {"192.0.3.1", "192.0.4.1", "192.0.5.1"}) {
    client = endpoint(address, 1000);
    others += ask(induction).reply.empty() ? 0 : 1;
  }
  EXPECT_GE(others, 2) << "as are other prefixes, one of which may have its place by chance";
  client = endpoint("192.0.2.1", 1000);
  now += 500ms;
  EXPECT_EQ(answered_of(1000), 50);
}

TEST_F(PassiveOpenTest, WithoutAKeyAnswersEveryClient) {
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(ask(induction).reply.empty());
}

TEST_F(PassiveOpenTest, AcceptsOneOfOursAndGivesItAToken) {
  const auto outcome = ask(conclusion(), 0, HandshakeExtension{777});
  ASSERT_TRUE(outcome.accepted);
  EXPECT_EQ(outcome.accepted->peer, PeerKind::own);
  EXPECT_EQ(outcome.accepted->peer_token, 777U);
  EXPECT_EQ(outcome.accepted->local_token, 4242U);
  EXPECT_EQ(outcome.accepted->hold, Duration::zero());
  EXPECT_EQ(extension_of(outcome.reply)->token, 4242U);
}

TEST_F(PassiveOpenTest, GivesTheDataOfAConclusionOfOneOfOurs) {
  const auto words = numbered_bytes(300);
  const auto packet = encode(conclusion(), 0, 0, HandshakeExtension{777, 0, words}, 1234);
  const auto outcome = ask_with(packet);
  ASSERT_TRUE(outcome.accepted);
  EXPECT_EQ(bytes_of(outcome.handshake_data), words);
  EXPECT_EQ(outcome.timestamp_us, 1234U);
  EXPECT_LT(outcome.reply.size(), packet.size());
}

TEST_F(PassiveOpenTest, IgnoresAConclusionWithoutItsCookie) {
  HandshakePacket forged = conclusion();
  forged.cookie ^= 2;
  const auto outcome = ask(forged);
  EXPECT_TRUE(outcome.reply.empty());
  EXPECT_FALSE(outcome.accepted);
  EXPECT_EQ(lots, 0);
}

TEST_F(PassiveOpenTest, IgnoresAConclusionWhileThereIsNoRoom) {
  full = true;
  EXPECT_TRUE(ask(conclusion()).reply.empty());
  full = false;
  EXPECT_TRUE(ask(conclusion()).accepted) << "asked again";
}

TEST_F(PassiveOpenTest, RefusesInvalidNumbers) {
  const HandshakePacket good = conclusion();
  const auto refused = [&](auto change) {
    HandshakePacket bad = good;
    change(bad);
    const auto outcome = ask(bad);
    return !outcome.accepted && !outcome.reply.empty() && decoded(outcome.reply).request == Request::refused;
  };
  EXPECT_TRUE(refused([](HandshakePacket& bad) { bad.version = 3; }));
  EXPECT_TRUE(refused([](HandshakePacket& bad) { bad.type = 2; }));
  EXPECT_TRUE(refused([](HandshakePacket& bad) { bad.mss = 75; }));
  EXPECT_TRUE(refused([](HandshakePacket& bad) { bad.flow_window = 0; }));
  EXPECT_TRUE(refused([](HandshakePacket& bad) { bad.flow_window = 0x80000000; }));
  EXPECT_TRUE(refused([](HandshakePacket& bad) { bad.initial_sequence = 0x80000000; }));
}

TEST_F(PassiveOpenTest, BoundsWhatAClientClaims) {
  HandshakePacket greedy = conclusion();
  greedy.mss = 9000;
  greedy.flow_window = 0x7fffffff;
  const auto outcome = ask(greedy);
  ASSERT_TRUE(outcome.accepted);
  EXPECT_EQ(outcome.accepted->mss, 1500U);
  EXPECT_EQ(outcome.accepted->flow_window, kMaxWindowPackets);
}

TEST_F(PassiveOpenTest, IgnoresPacketsThatAreNoRequest) {
  auto packet = encode(induction, 0, 0, std::nullopt);
  packet.resize(packet.size() + 4);
  EXPECT_TRUE(ask_with(packet).reply.empty()) << "longer than libudt takes";
  EXPECT_TRUE(ask_with(std::vector<std::byte>(100)).reply.empty()) << "data";
  HandshakePacket odd = induction;
  odd.request = Request::rendezvous;
  EXPECT_TRUE(ask(odd).reply.empty());
  odd = induction;
  odd.socket_id = 0;
  EXPECT_TRUE(ask(odd).reply.empty());
}

TEST_F(PassiveOpenTest, RefusesAClientWhereThePortDoesNotListen) {
  const auto reply = PassiveOpen::refusal(encode(induction, 0, 0, std::nullopt));
  EXPECT_EQ(decoded(reply).request, Request::refused);
  EXPECT_EQ(decode_control_header(reply).destination, 5U);
  EXPECT_TRUE(PassiveOpen::refusal(std::vector<std::byte>(20)).empty());
}

TEST_F(PassiveOpenTest, TakesAnyDamagedRequest) {
  for_each_damage(encode(conclusion(), 0, 0, HandshakeExtension{777}), [&](const std::vector<std::byte>& damaged) {
    const auto outcome = ask_with(damaged);
    EXPECT_LE(outcome.reply.size(), kHeaderBytes + kHandshakeBytes + 16);
    if (!outcome.accepted) return;
    EXPECT_GE(outcome.accepted->mss, kMinMss);
    EXPECT_LE(outcome.accepted->mss, 1500U);
  });
}

}  // namespace
}  // namespace udtcat::transport::native
