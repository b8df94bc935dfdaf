// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/active_open.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;
using State = ActiveOpen::State;

/// A server that answers as the test says, and keeps the client's last packet.
class ActiveOpenTest : public testing::Test {
 protected:
  explicit ActiveOpenTest(KeyProof* key_proof = nullptr)
      : request{endpoint("192.0.2.1", 9000), 5, 1000, 1500, 360, 0xabcdef, std::nullopt, key_proof} {}

  HandshakePacket next_request() {
    const auto packet = open.poll_transmit(now);
    EXPECT_TRUE(packet);
    sent_ = packet.value_or(std::vector<std::byte>(kHeaderBytes + kHandshakeBytes));
    return decode_handshake(std::span(sent_).subspan(kHeaderBytes)).value();
  }
  std::uint32_t sent_additional() const { return decode_control_header(sent_).additional; }
  auto sent_extension() const { return decode_extension(std::span(sent_).subspan(kHeaderBytes)); }

  static HandshakePacket answer_to(HandshakePacket request, std::uint32_t cookie) {
    request.cookie = cookie;
    return request;
  }
  void answer(const HandshakePacket& handshake, std::uint32_t additional = 0,
              const std::optional<HandshakeExtension>& extension = std::nullopt) {
    open.handle(now, encode(handshake, request.local_id, additional, extension));
  }
  /// Up to the conclusion.
  HandshakePacket conclude(bool own) {
    const auto induction = answer_to(next_request(), 77);
    answer(induction, own ? kMarkerAnswer : kMarker, own ? std::optional(HandshakeExtension{}) : std::nullopt);
    return next_request();
  }
  HandshakePacket good_conclusion(bool own) {
    HandshakePacket reply = conclude(own);
    reply.socket_id = 9;
    reply.mss = 1400;
    reply.flow_window = 100;
    return reply;
  }

  OpenRequest request;
  TimePoint now = kStart;
  ActiveOpen open{now, request};

 private:
  std::vector<std::byte> sent_;
};

/// Proves: udt4.asks-by-clock
TEST_F(ActiveOpenTest, RepeatsItsPacketAtTheFirstConnectivityCheckAlone) {
  next_request();
  EXPECT_FALSE(open.poll_transmit(now));
  EXPECT_TRUE(open.repeat_once(now));
  next_request();
  EXPECT_FALSE(open.repeat_once(now)) << "or a peer could raise the rate";
  EXPECT_FALSE(open.poll_transmit(now));
}

/// Proves: udt4.asks-by-clock
TEST_F(ActiveOpenTest, SendsTheInductionAtOnceAndFourInASecondThenOneEachSecond) {
  EXPECT_EQ(next_request().request, Request::induction);
  EXPECT_EQ(sent_additional(), kMarker);
  EXPECT_FALSE(open.poll_transmit(now + 249ms));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(open.deadline(), now + 250ms);
    now += 250ms;
    EXPECT_EQ(next_request().request, Request::induction);
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(open.deadline(), now + 1s);
    now += 1s;
    EXPECT_EQ(next_request().request, Request::induction);
  }
}

TEST_F(ActiveOpenTest, BeginsWithTheConclusionWhereTheCookieIsKnown) {
  request.known_cookie = 77;
  ActiveOpen informed(now, request);
  const auto packet = informed.poll_transmit(now).value();
  const auto body = std::span(packet).subspan(kHeaderBytes);
  HandshakePacket reply = decode_handshake(body).value();
  EXPECT_EQ(reply.request, Request::conclusion);
  EXPECT_EQ(reply.cookie, 77U);
  EXPECT_EQ(decode_extension(body).value().token, request.token);
  reply.socket_id = 9;
  informed.handle(now, encode(reply, request.local_id, kMarkerAnswer, HandshakeExtension{4242}));
  ASSERT_EQ(informed.state(), State::done);
  EXPECT_EQ(informed.settings().peer, PeerKind::own);
  EXPECT_EQ(informed.settings().peer_token, 4242U);
}

class ActiveOpenWithData : public ActiveOpenTest {
 protected:
  [[nodiscard]] OpenRequest with_words() const {
    OpenRequest wordy = request;
    wordy.handshake_data = core::SharedBytes::adopt(words);
    return wordy;
  }
  const std::vector<std::byte> words = numbered_bytes(300);
  ActiveOpen talkative{now, with_words()};
};

/// A client with a cookie of an earlier connection.
class ActiveOpenWithARememberedCookie : public ActiveOpenWithData {
 protected:
  [[nodiscard]] OpenRequest with_cookie() const {
    OpenRequest known = with_words();
    known.remembered_cookie = 99;
    return known;
  }
  HandshakePacket next_of(ActiveOpen& who) {
    const auto packet = who.poll_transmit(now).value_or(std::vector<std::byte>(kHeaderBytes + kHandshakeBytes));
    return decode_handshake(std::span(packet).subspan(kHeaderBytes)).value();
  }
  ActiveOpen returning{now, with_cookie()};
};

TEST_F(ActiveOpenWithARememberedCookie, SendsAConclusionAndAnInductionAtOnce) {
  const HandshakePacket known = next_of(returning);
  EXPECT_EQ(known.request, Request::conclusion);
  EXPECT_EQ(known.cookie, 99U);
  EXPECT_EQ(next_of(returning).request, Request::induction);
  EXPECT_EQ(returning.deadline(), now + 250ms);
}

TEST_F(ActiveOpenWithARememberedCookie, IsDoneByAnAnswerToTheConclusion) {
  HandshakePacket reply = next_of(returning);
  next_of(returning);
  reply.socket_id = 9;
  returning.handle(now, encode(reply, 5, kMarkerAnswer, HandshakeExtension{1, 100}));
  ASSERT_EQ(returning.state(), State::done);
  EXPECT_EQ(returning.settings().peer, PeerKind::own);
  EXPECT_EQ(returning.settings().next_cookie, 100U);
  EXPECT_TRUE(returning.settings().handshake_data);
}

TEST_F(ActiveOpenWithARememberedCookie, GoesOnWithANewCookieWhereTheRememberedOneIsRefused) {
  next_of(returning);
  HandshakePacket reply = next_of(returning);
  reply.cookie = 77;
  returning.handle(now, encode(reply, 5, kMarkerAnswer, HandshakeExtension{}));
  const HandshakePacket conclusion = next_of(returning);
  EXPECT_EQ(conclusion.request, Request::conclusion);
  EXPECT_EQ(conclusion.cookie, 77U);
}

TEST_F(ActiveOpenWithARememberedCookie, RepeatsBoth) {
  next_of(returning);
  next_of(returning);
  now += 250ms;
  EXPECT_EQ(next_of(returning).cookie, 99U);
  EXPECT_EQ(next_of(returning).request, Request::induction);
}

TEST_F(ActiveOpenWithARememberedCookie, IgnoresARefusalOfTheInductionWhileItsConclusionMayBeAccepted) {
  HandshakePacket known = next_of(returning);
  HandshakePacket stranger = next_of(returning);
  stranger.request = known.request = Request::refused;
  returning.handle(now, encode(stranger, 5, 0, std::nullopt));
  EXPECT_EQ(returning.state(), State::induction) << "the answer to the conclusion is still to come";
  returning.handle(now, encode(known, 5, 0, std::nullopt));
  EXPECT_EQ(returning.state(), State::refused);
}

TEST_F(ActiveOpenWithARememberedCookie, IgnoresAnAnswerToTheConclusionWithoutTheMarker) {
  HandshakePacket reply = next_of(returning);
  reply.socket_id = 9;
  returning.handle(now, encode(reply, 5, 0, std::nullopt));
  EXPECT_EQ(returning.state(), State::induction);
}

TEST_F(ActiveOpenTest, SendsAnInductionWhereTheKnownCookieIsNotAccepted) {
  request.known_cookie = 77;
  ActiveOpen informed(now, request);
  for (; now < kStart + 1s; now += 250ms) EXPECT_TRUE(informed.poll_transmit(now));
  std::ignore = informed.poll_transmit(now);  // the conclusion again: it may have been accepted
  const auto packet = informed.poll_transmit(now).value();
  const HandshakePacket asked = decode_handshake(std::span(packet).subspan(kHeaderBytes)).value();
  EXPECT_EQ(asked.request, Request::induction);
  EXPECT_EQ(asked.cookie, 0U);
}

struct ConnectorKey {
  KeyProof key_proof = key_proof_of(1);
};

class ActiveOpenWithAKey : protected ConnectorKey, public ActiveOpenTest {
 protected:
  ActiveOpenWithAKey() : ActiveOpenTest(&key_proof) {}
  [[nodiscard]] bool proves(const HandshakePacket& handshake) {
    return key_proof.is_in(handshake, sent_additional(), sent_extension());
  }
};

TEST_F(ActiveOpenWithAKey, ProvesItInTheFirstPacket) { EXPECT_TRUE(proves(next_request())); }

TEST_F(ActiveOpenWithAKey, ProvesItInAConclusionToOneOfOurs) { EXPECT_TRUE(proves(conclude(true))); }

TEST_F(ActiveOpenWithAKey, SendsAPlainServerTheAddressWithoutAProof) {
  EXPECT_EQ(conclude(false).address, address_words(request.peer));
}

TEST_F(ActiveOpenTest, AgreesWithAPlainServer) {
  HandshakePacket reply = good_conclusion(false);
  EXPECT_EQ(reply.request, Request::conclusion);
  EXPECT_EQ(reply.cookie, 77U);
  EXPECT_EQ(sent_additional(), 0U);
  EXPECT_FALSE(sent_extension());
  answer(reply);
  ASSERT_EQ(open.state(), State::done);
  EXPECT_EQ(open.settings().peer, PeerKind::plain);
  EXPECT_EQ(open.settings().peer_id, 9U);
  EXPECT_EQ(open.settings().mss, 1400U);
  EXPECT_EQ(open.settings().flow_window, 100U);
  EXPECT_FALSE(open.poll_transmit(now + 1h));
}

TEST_F(ActiveOpenTest, AgreesWithOneOfOurs) {
  const HandshakePacket reply = good_conclusion(true);
  ASSERT_TRUE(sent_extension());
  EXPECT_EQ(sent_extension()->token, request.token);
  answer(reply, kMarkerAnswer, HandshakeExtension{123});
  ASSERT_EQ(open.state(), State::done);
  EXPECT_EQ(open.settings().peer, PeerKind::own);
  EXPECT_EQ(open.settings().local_token, request.token);
  EXPECT_EQ(open.settings().peer_token, 123U);
}

TEST_F(ActiveOpenWithData, SendsThemInAConclusionToOneOfOurs) {
  const auto said = [&] {
    const auto packet = talkative.poll_transmit(now).value_or(std::vector<std::byte>(kHeaderBytes));
    const auto extension = decode_extension(std::span(packet).subspan(kHeaderBytes));
    return extension ? bytes_of(extension->handshake_data) : std::vector<std::byte>();
  };
  EXPECT_TRUE(said().empty()) << "not before the peer is known";
  HandshakePacket reply{.initial_sequence = 1000, .mss = 1400, .flow_window = 100, .socket_id = 5, .cookie = 77};
  talkative.handle(now, encode(reply, 5, kMarkerAnswer, HandshakeExtension{}));
  EXPECT_EQ(said(), words);
  now += 250ms;
  EXPECT_EQ(said(), words) << "each time";
  reply.request = Request::conclusion;
  reply.socket_id = 9;
  talkative.handle(now + 40ms, encode(reply, 5, kMarkerAnswer, HandshakeExtension{1}));
  ASSERT_EQ(talkative.state(), State::done);
  const auto& handshake_data = talkative.settings().handshake_data;
  ASSERT_TRUE(handshake_data);
  EXPECT_EQ(bytes_of(handshake_data->bytes.bytes()), words);
  EXPECT_EQ(handshake_data->sent_at, now);
}

TEST_F(ActiveOpenWithData, KnowsWhenEachConclusionLeft) {
  HandshakePacket reply{.initial_sequence = 1000, .mss = 1400, .flow_window = 100, .socket_id = 5, .cookie = 77};
  std::ignore = talkative.poll_transmit(now);
  talkative.handle(now, encode(reply, 5, kMarkerAnswer, HandshakeExtension{}));
  EXPECT_EQ(decode_control_header(talkative.poll_transmit(now).value()).timestamp_us, 0U);
  now += 250ms;
  EXPECT_EQ(decode_control_header(talkative.poll_transmit(now).value()).timestamp_us, 250'000U);
}

TEST_F(ActiveOpenWithData, SendsNoneToAPlainServer) {
  std::ignore = talkative.poll_transmit(now);
  HandshakePacket reply{.initial_sequence = 1000, .mss = 1400, .flow_window = 100, .socket_id = 5, .cookie = 77};
  talkative.handle(now, encode(reply, 5, kMarker, std::nullopt));
  EXPECT_EQ(talkative.poll_transmit(now).value().size(), kHeaderBytes + kHandshakeBytes);
  reply.request = Request::conclusion;
  reply.socket_id = 9;
  talkative.handle(now, encode(reply, 5, 0, std::nullopt));
  ASSERT_EQ(talkative.state(), State::done);
  EXPECT_FALSE(talkative.settings().handshake_data);
}

TEST_F(ActiveOpenTest, SendsNoTokenToAServerThatEchoesTheMarker) {
  const auto induction = answer_to(next_request(), 77);
  answer(induction, kMarkerAnswer);  // without the extension
  next_request();
  EXPECT_FALSE(sent_extension());
}

TEST_F(ActiveOpenTest, IgnoresAnAnswerOfOursWithoutAToken) {
  answer(good_conclusion(true), kMarkerAnswer);
  EXPECT_EQ(open.state(), State::conclusion);
}

TEST_F(ActiveOpenTest, IgnoresAnAnswerWithInvalidNumbers) {
  const HandshakePacket good = good_conclusion(false);
  const auto ignored = [&](auto change) {
    HandshakePacket bad = good;
    change(bad);
    answer(bad);
    return open.state() == State::conclusion;
  };
  EXPECT_TRUE(ignored([](HandshakePacket& bad) { bad.mss = 75; }));
  EXPECT_TRUE(ignored([](HandshakePacket& bad) { bad.mss = 1501; }));
  EXPECT_TRUE(ignored([](HandshakePacket& bad) { bad.flow_window = 0; }));
  EXPECT_TRUE(ignored([](HandshakePacket& bad) { bad.socket_id = 0; }));
  EXPECT_TRUE(ignored([](HandshakePacket& bad) { bad.socket_id = 0x80000000; }));
  EXPECT_TRUE(ignored([](HandshakePacket& bad) { bad.version = 5; }));
  EXPECT_TRUE(ignored([](HandshakePacket& bad) { bad.type = 2; }));
  EXPECT_TRUE(ignored([](HandshakePacket& bad) { ++bad.initial_sequence; }));
  EXPECT_TRUE(ignored([](HandshakePacket& bad) { bad.request = Request::induction; }));
}

TEST_F(ActiveOpenTest, BoundsTheWindowThatAServerClaims) {
  HandshakePacket reply = good_conclusion(false);
  reply.flow_window = 0xffffffff;
  answer(reply);
  EXPECT_EQ(open.settings().flow_window, kMaxWindowPackets);
}

TEST_F(ActiveOpenTest, MeasuresTheRoundTripByItsConclusion) {
  const HandshakePacket reply = good_conclusion(true);
  now += 30ms;
  answer(reply, kMarkerAnswer, HandshakeExtension{4242});
  ASSERT_EQ(open.state(), State::done);
  ASSERT_TRUE(open.settings().first_rtt);
  EXPECT_EQ(open.settings().first_rtt->value, 30ms);
  EXPECT_EQ(open.settings().first_rtt->bytes, 2 * (64U + 16 + 28));
}

TEST_F(ActiveOpenTest, MeasuresNoRoundTripByARepeatedConclusion) {
  const HandshakePacket reply = good_conclusion(true);
  now += 250ms;
  next_request();
  answer(reply, kMarkerAnswer, HandshakeExtension{4242});
  ASSERT_EQ(open.state(), State::done);
  EXPECT_FALSE(open.settings().first_rtt);
}

/// Proves: udt4.asks-by-clock
TEST_F(ActiveOpenTest, RepeatsAConclusionLaterWhereTheInductionTookLong) {
  const HandshakePacket induction = answer_to(next_request(), 77);
  now += 200ms;
  answer(induction, kMarkerAnswer, HandshakeExtension{});
  EXPECT_EQ(next_request().request, Request::conclusion);
  EXPECT_EQ(open.deadline(), now + 500ms);
  now += 500ms;
  EXPECT_EQ(next_request().request, Request::conclusion);
}

/// Proves: udt4.asks-by-clock
TEST_F(ActiveOpenTest, RepeatsAConclusionAfterASecondAtMost) {
  const HandshakePacket induction = answer_to(next_request(), 77);
  now += 900ms;
  answer(induction, kMarkerAnswer, HandshakeExtension{});
  EXPECT_EQ(next_request().request, Request::conclusion);
  EXPECT_EQ(open.deadline(), now + 1s);
}

TEST_F(ActiveOpenTest, SendsAnInductionAgainWhereItsConclusionIsNotAnswered) {
  conclude(false);
  for (int i = 0; i < 3; ++i) {
    now += 250ms;
    EXPECT_EQ(next_request().request, Request::conclusion);
  }
  now += 250ms;
  const HandshakePacket again = next_request();
  EXPECT_EQ(again.request, Request::induction);
  EXPECT_EQ(again.cookie, 0U);
}

TEST_F(ActiveOpenTest, IsRefusedByAnAnswerToItsSocketOnly) {
  HandshakePacket refusal = next_request();
  refusal.request = Request::refused;
  refusal.socket_id = 6;
  answer(refusal);
  EXPECT_EQ(open.state(), State::induction);
  refusal.socket_id = 5;
  answer(refusal);
  EXPECT_EQ(open.state(), State::refused);
  EXPECT_FALSE(open.poll_transmit(now + 1h));
}

TEST_F(ActiveOpenTest, TakesAnyDamagedAnswer) {
  const auto packet = encode(good_conclusion(true), request.local_id, kMarkerAnswer, HandshakeExtension{123});
  for_each_damage(packet, [&](const std::vector<std::byte>& damaged) {
    ActiveOpen copy = open;
    copy.handle(now, damaged);
    if (copy.state() != State::done) return;
    EXPECT_LE(copy.settings().mss, request.mss);
    EXPECT_GE(copy.settings().mss, kMinMss);
    EXPECT_LE(copy.settings().peer_id, kSequenceMask);
  });
}

}  // namespace
}  // namespace udtcat::transport::native
