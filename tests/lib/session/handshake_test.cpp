// SPDX-License-Identifier: Apache-2.0
#include "lib/session/handshake.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "support/memory_channel.hpp"
#include "support/run_until.hpp"

namespace udtcat::session {
namespace {

using namespace std::chrono_literals;

/// Two ends that shake hands over a path in memory.
class HandshakeTest : public ::testing::Test {
 protected:
  struct End {
    SessionOptions options;
    std::optional<Credentials> key;
    std::unique_ptr<Handshake> handshake;
    std::optional<Result<std::unique_ptr<Session>>> result;
    [[nodiscard]] Errc error() const { return result->error().code; }
  };

  void SetUp() override {
    connector.key = std::move(*Key::generate());
    listener.key = connector.key->duplicate();
    connector.options.application = listener.options.application = "pipe";
  }
  void use_protection(End& end, Protection protection) {
    end.options.protection = protection;
    if (protection == Protection::clear) end.key.reset();
  }
  void start(End& end, Role role, std::unique_ptr<transport::Channel> channel) {
    end.handshake = std::make_unique<Handshake>(
        io, role, end.key ? &*end.key : nullptr, end.options, kInitialWindowBytes,
        [&end](Result<std::unique_ptr<Session>> session) { end.result = std::move(session); });
    if (role == Role::connector) transport::write_handshake_data(*channel, *end.handshake->first_flight());
    end.handshake->start(std::move(channel));
  }
  void shake_hands() {
    start(connector, Role::connector, std::move(path.connector));
    start(listener, Role::listener, std::move(path.listener));
    run_until([this] { return connector.result && listener.result; });
  }
  template <typename Condition>
  void run_until(Condition condition) {
    ASSERT_TRUE(test::run_until(io, condition));
  }

  boost::asio::io_context io;
  test::ChannelPair path{io};
  End connector;
  End listener;
};

TEST_F(HandshakeTest, AgreesWhereTheKeyIsTheSame) {
  connector.options.lanes = 4;
  listener.options.lanes = 8;
  connector.options.block_bytes = 64 * kKiB;
  shake_hands();
  ASSERT_TRUE(*connector.result);
  ASSERT_TRUE(*listener.result);
  const NegotiatedParameters& agreed = (**connector.result)->agreed();
  EXPECT_EQ(agreed.lanes, 4U);
  EXPECT_EQ(agreed.block_bytes, 64 * kKiB);
  EXPECT_EQ(agreed.cipher, (**listener.result)->agreed().cipher);
  EXPECT_EQ(agreed.protection, Protection::private_);
}

TEST_F(HandshakeTest, AgreesInOneRoundTrip) {
  path.from_connector->tamper = [this](auto) {
    if (!path.from_listener->capture.empty()) path.from_connector->black_hole = true;
  };
  start(connector, Role::connector, std::move(path.connector));
  start(listener, Role::listener, std::move(path.listener));
  run_until([this] { return connector.result.has_value(); });
  EXPECT_TRUE(*connector.result) << "though the listener has not heard a second word of it";
  EXPECT_FALSE(listener.result);
}

/// Proves: udt4.proof-gives-place
TEST_F(HandshakeTest, MakesNoSessionForAReplayedFirstFlight) {
  start(connector, Role::connector, std::move(path.connector));
  run_until([this] { return !path.from_connector->capture.empty(); });
  test::ChannelPair again(io);
  start(listener, Role::listener, std::move(again.listener));
  again.connector->async_write(core::SharedBytes::adopt(std::vector(path.from_connector->capture)),
                               [](const Status&) {});
  run_until([&] { return !again.from_listener->capture.empty(); });
  io.poll();
  EXPECT_FALSE(listener.result);
  again.connector->close({});
  run_until([this] { return listener.result.has_value(); });
  EXPECT_EQ(listener.error(), Errc::connection_broken);
}

TEST_F(HandshakeTest, RefusesAWrongKeyAtBothEnds) {
  connector.key = std::move(*Key::generate());
  shake_hands();
  ASSERT_FALSE(*connector.result);
  ASSERT_FALSE(*listener.result);
  EXPECT_EQ(connector.error(), Errc::authentication_failed);
  EXPECT_EQ(listener.error(), Errc::authentication_failed);
}

/// Proves: threat-model.level-not-negotiated, threat-model.same-level
TEST_F(HandshakeTest, RefusesEveryPairOfDifferentProtections) {
  const std::array levels{Protection::clear, Protection::auth, Protection::safe, Protection::private_};
  for (const auto ours : levels)
    for (const auto theirs : levels) {
      path = test::ChannelPair(io);
      connector = End{};
      listener = End{};
      SetUp();
      use_protection(connector, ours);
      use_protection(listener, theirs);
      shake_hands();
      EXPECT_EQ(connector.result->has_value(), ours == theirs) << to_string(ours) << " to " << to_string(theirs);
      EXPECT_EQ(listener.result->has_value(), ours == theirs) << to_string(ours) << " to " << to_string(theirs);
      if (ours != theirs) {
        EXPECT_EQ(connector.error(), Errc::parameters_refused) << connector.result->error().message();
        EXPECT_EQ(listener.error(), Errc::parameters_refused) << listener.result->error().message();
      }
    }
}

/// Proves: handshake.meant-service-only
TEST_F(HandshakeTest, RefusesAnotherApplicationAtBothEndsAtEveryLevel) {
  for (const auto protection : {Protection::clear, Protection::auth, Protection::safe, Protection::private_})
    for (const std::size_t flows : {1U, 3U}) {
      path = test::ChannelPair(io);
      connector = End{};
      listener = End{};
      SetUp();
      use_protection(connector, protection);
      use_protection(listener, protection);
      connector.options.flows = flows;
      listener.options.application = "forward";
      shake_hands();
      EXPECT_EQ(connector.error(), Errc::parameters_refused);
      EXPECT_EQ(listener.error(), Errc::parameters_refused);
    }
}

TEST_F(HandshakeTest, ChecksTheNamesOfBothEnds) {
  connector.options.own_name = listener.options.expected_peer = "a";
  connector.options.expected_peer = listener.options.own_name = "b";
  shake_hands();
  ASSERT_TRUE(*connector.result && *listener.result);
  for (const End* end : {&connector, &listener}) ASSERT_TRUE((**end->result)->start(0, 1));
  Block block = std::move(*(**connector.result)->empty_block());
  block.payload_bytes = 1;
  (**connector.result)->async_write(std::move(block), [](const Status&) {});
  std::optional<Result<Block>> opened;
  (**listener.result)->async_read([&](Result<Block> read) { opened = std::move(read); });
  run_until([&] { return opened.has_value(); });
  EXPECT_TRUE(*opened);
  EXPECT_EQ((**listener.result)->agreed().connector_name, "a");
}

TEST_F(HandshakeTest, RefusesItsOwnName) {
  connector.options.own_name = listener.options.own_name = "a";
  shake_hands();
  EXPECT_EQ(connector.error(), Errc::parameters_refused);
  EXPECT_EQ(listener.error(), Errc::parameters_refused);
  for (const End* end : {&connector, &listener})
    EXPECT_NE(end->result->error().message().find("met itself"), std::string::npos);
}

TEST_F(HandshakeTest, AgreesOnFlowsAndTheirJoinKey) {
  for (const auto protection : {Protection::clear, Protection::auth, Protection::safe, Protection::private_}) {
    path = test::ChannelPair(io);
    connector = End{};
    listener = End{};
    SetUp();
    use_protection(connector, protection);
    use_protection(listener, protection);
    connector.options.flows = 3;
    shake_hands();
    ASSERT_TRUE(*connector.result && *listener.result);
    const JoinKey* ours = (**connector.result)->join_key();
    const JoinKey* theirs = (**listener.result)->join_key();
    ASSERT_TRUE(ours != nullptr && theirs != nullptr);
    EXPECT_TRUE(theirs->is_meant_by(*ours->join({2, 1})));
    EXPECT_TRUE(theirs->check(*ours->join({2, 1})));
    EXPECT_TRUE(ours->check(*theirs->joined({2, 1}), {2, 1}));
    EXPECT_NE((**connector.result)->agreed().session_id, SessionId{});
  }
}

TEST_F(HandshakeTest, GivesAChannelThatJoinsToItsHandler) {
  for (const auto protection : {Protection::clear, Protection::private_}) {
    path = test::ChannelPair(io);
    listener = End{};
    SetUp();
    use_protection(listener, protection);
    const Join said = *JoinKey({}, {}).join({7, 1});
    std::optional<Join> heard;
    std::unique_ptr<transport::Channel> joining;
    start(listener, Role::listener, std::move(path.listener));
    listener.handshake->take_joins([&](const Join& join, std::unique_ptr<transport::Channel> channel) {
      heard = join;
      joining = std::move(channel);
    });
    path.connector->async_write(core::SharedBytes::adopt(encode(said)), [](const Status&) {});
    run_until([&] { return heard.has_value(); });
    EXPECT_EQ(heard, said);
    EXPECT_NE(joining, nullptr);
    EXPECT_FALSE(listener.result);
  }
}

/// Proves: handshake.nothing-parsed-before
TEST_F(HandshakeTest, RefusesAnInvalidOrUnexpectedJoin) {
  auto bad = encode(*JoinKey({}, {}).join({7, 1}));
  bad[8] = std::byte{0xff};
  start(listener, Role::listener, std::move(path.listener));
  listener.handshake->take_joins([](const Join&, const std::unique_ptr<transport::Channel>&) { FAIL(); });
  path.connector->async_write(core::SharedBytes::adopt(bad), [](const Status&) {});
  run_until([&] { return listener.result.has_value(); });
  EXPECT_EQ(listener.error(), Errc::protocol_violated);

  path = test::ChannelPair(io);
  listener = End{};
  SetUp();
  start(listener, Role::listener, std::move(path.listener));
  path.connector->async_write(core::SharedBytes::adopt(encode(*JoinKey({}, {}).join({7, 1}))), [](const Status&) {});
  run_until([&] { return listener.result.has_value(); });
  EXPECT_EQ(listener.error(), Errc::parameters_refused);
}

TEST_F(HandshakeTest, RefusesACipherThatTheListenerDoesNotWant) {
  connector.options.cipher = Cipher::aes_128_gcm;
  listener.options.cipher = Cipher::chacha20_poly1305;
  shake_hands();
  EXPECT_EQ(connector.error(), Errc::parameters_refused);
  EXPECT_EQ(listener.error(), Errc::parameters_refused);
}

TEST_F(HandshakeTest, FollowsTheCipherThatOneEndAsksFor) {
  listener.options.cipher = Cipher::chacha20_poly1305;
  shake_hands();
  ASSERT_TRUE(*connector.result) << connector.result->error().message();
  EXPECT_EQ((**connector.result)->agreed().cipher, Cipher::chacha20_poly1305);
}

TEST_F(HandshakeTest, RefusesTwoEndsThatOnlySend) {
  connector.options.receives = listener.options.receives = false;
  shake_hands();
  EXPECT_EQ(connector.error(), Errc::parameters_refused);
}

/// Proves: threat-model.stranger-places
TEST_F(HandshakeTest, TimesOutOnASilentPeer) {
  const auto begin = std::chrono::steady_clock::now();
  start(listener, Role::listener, std::move(path.listener));
  run_until([this] { return listener.result.has_value(); });
  EXPECT_EQ(listener.error(), Errc::cannot_reach);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 3s);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

/// Proves: threat-model.stranger-places
TEST_F(HandshakeTest, SlowEndsTenSecondsAfterItsBeginningWhereTheFirstFlightIsAll) {
  start(connector, Role::connector, std::move(path.connector));
  run_until([this] { return !path.from_connector->capture.empty(); });
  test::ChannelPair again(io);
  const auto begin = std::chrono::steady_clock::now();
  start(listener, Role::listener, std::move(again.listener));
  again.connector->async_write(core::SharedBytes::adopt(std::vector(path.from_connector->capture)),
                               [](const Status&) {});
  run_until([this] { return listener.result.has_value(); });
  EXPECT_EQ(listener.error(), Errc::cannot_reach);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

TEST_F(HandshakeTest, FailsOnGarbage) {
  start(listener, Role::listener, std::move(path.listener));
  const std::string nonsense = "GET / HTTP/1.1\r\nHost: example\r\n\r\n";
  const auto bytes = std::as_bytes(std::span(nonsense));
  path.connector->async_write(core::SharedBytes::adopt({bytes.begin(), bytes.end()}), [](const Status&) {});
  run_until([this] { return listener.result.has_value(); });
  EXPECT_EQ(listener.error(), Errc::protocol_violated);
}

/// Proves: handshake.stranger-one-record
TEST_F(HandshakeTest, ReadsNoFurtherThanOneRecordOfAStranger) {
  constexpr std::size_t kRecordBytes = 5 + 16384 + 256;  // spec: RFC 8446 section 5.2
  start(listener, Role::listener, std::move(path.listener));
  std::vector<std::byte> said(kRecordBytes + 100'000);
  std::ranges::copy(std::array{std::byte{22}, std::byte{3}, std::byte{1}, std::byte{0x41}, std::byte{0}}, said.begin());
  path.connector->async_write(core::SharedBytes::adopt(std::move(said)), [](const Status&) {});
  run_until([this] { return listener.result.has_value(); });
  EXPECT_GE(path.from_connector->bytes.size(), 100'000U);
}

TEST_F(HandshakeTest, SeesAPathThatBreaksInTheMiddle) {
  start(connector, Role::connector, std::move(path.connector));
  start(listener, Role::listener, std::move(path.listener));
  run_until([this] { return !path.from_listener->capture.empty(); });
  path.from_connector->cut = path.from_listener->cut = true;
  path.from_connector->bytes.clear();
  path.from_listener->bytes.clear();
  path.from_connector->wake_reader();
  path.from_listener->wake_reader();
  run_until([this] { return connector.result && listener.result; });
  EXPECT_EQ(connector.error(), Errc::connection_broken);
  EXPECT_EQ(listener.error(), Errc::connection_broken);
}

TEST_F(HandshakeTest, CanBeDestroyedAtAnyStep) {
  for (int steps = 0; steps < 60; ++steps) {
    path = test::ChannelPair(io);
    connector = End{};
    listener = End{};
    SetUp();
    start(connector, Role::connector, std::move(path.connector));
    start(listener, Role::listener, std::move(path.listener));
    for (int i = 0; i < steps; ++i) io.poll_one();
    connector.handshake.reset();
    listener.handshake.reset();
    test::run_ready(io);
  }
}

}  // namespace
}  // namespace udtcat::session
