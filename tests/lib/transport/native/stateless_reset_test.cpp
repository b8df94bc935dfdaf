// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/stateless_reset.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "lib/transport/native/packet.hpp"
#include "lib/transport/native/parts.hpp"
#include "support/bytes.hpp"
#include "support/spec_example.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

StatelessResets resets_of(int key, std::uint16_t port) {
  std::array<std::byte, crypto::KeyedHash::kKeyBytes> bytes{};
  bytes.fill(static_cast<std::byte>(key));
  return StatelessResets::create(bytes, port).value();
}

class StatelessResetsTest : public testing::Test {
 protected:
  static std::vector<std::byte> packet_of(ControlType type, std::uint16_t subtype, std::size_t bytes,
                                          std::uint32_t destination = 5) {
    auto packet = encode(ControlHeader{type, subtype, 0, 0, destination}, std::vector<std::uint32_t>(20));
    packet.resize(bytes);
    return packet;
  }
  static std::vector<std::byte> data(std::uint32_t destination = 5) {
    std::vector<std::byte> packet(100);
    encode(DataHeader{1, 2, 3, destination}, std::span(packet).first<kHeaderBytes>());
    return packet;
  }
  bool answers(const std::vector<std::byte>& packet) { return !resets.answer(now, packet, peer).empty(); }

  Endpoint peer = endpoint("192.0.2.1", 1000);
  StatelessResets resets = resets_of(1, 9000);
  TimePoint now = kStart;
};

TEST_F(StatelessResetsTest, HaveTheSameTokensInTheNextProcess) {
  const auto token = resets.token_of(5, peer).value();
  const auto answer = resets_of(1, 9000).answer(now, data(), peer);
  const auto reset = decode_reset(answer);
  ASSERT_TRUE(reset);
  EXPECT_EQ(reset->id, 5U);
  EXPECT_EQ(reset->token, token);
}

TEST_F(StatelessResetsTest, AreBoundToTheKeyTheSocketTheAddressAndThePort) {
  const auto token = resets.token_of(5, peer).value();
  EXPECT_NE(resets.token_of(6, peer).value(), token);
  EXPECT_NE(resets.token_of(5, peer.with_port(1001)).value(), token);
  EXPECT_NE(resets.token_of(5, endpoint("192.0.2.2", 1000)).value(), token);
  EXPECT_NE(resets_of(1, 9001).token_of(5, peer).value(), token);
  EXPECT_NE(resets_of(2, 9000).token_of(5, peer).value(), token);
}

/// Proves: udt4.reset-limits, threat-model.reset-small
TEST_F(StatelessResetsTest, AreNeverLargerThanWhatTheyAnswer) {
  for (std::size_t bytes = 0; bytes <= 96; ++bytes) {
    const auto answer = resets.answer(now, packet_of(ControlType::ack, 0, bytes), peer);
    EXPECT_EQ(answer.empty(), bytes < kResetBytes) << bytes;
    EXPECT_LE(answer.size(), bytes);
    now += 1s;
  }
}

/// Proves: udt4.reset-limits, threat-model.reset-small
TEST_F(StatelessResetsTest, AnswerNoResetNoShutdownAndNoHandshake) {
  EXPECT_TRUE(answers(packet_of(ControlType::keep_alive, 0, 24)));
  EXPECT_FALSE(answers(packet_of(ControlType::user, 5, 24)));
  EXPECT_FALSE(answers(encode(StatelessReset{5, 7})));
  EXPECT_FALSE(answers(packet_of(ControlType::shutdown, 0, 24)));
  EXPECT_FALSE(answers(packet_of(ControlType::handshake, 0, 64)));
  EXPECT_FALSE(answers(data(0))) << "for the listener";
}

/// Proves: udt4.reset-limits
TEST_F(StatelessResetsTest, AreSentAtALimitedRate) {
  int answered = 0;
  for (int i = 0; i < 1000; ++i) answered += answers(data()) ? 1 : 0;
  EXPECT_EQ(answered, 100);
}

/// Proves: udt4.reset-limits
TEST_F(StatelessResetsTest, AreLimitedForEachHost) {
  for (int i = 0; i < 1000; ++i) std::ignore = answers(data());
  int answered = 0;
  for (const char* neighbour : {"192.0.2.2", "192.0.2.99", "192.0.2.200"})  // one may share its bucket
    answered += resets.answer(now, data(), endpoint(neighbour, 1000)).empty() ? 0 : 1;
  EXPECT_GE(answered, 2);
}

/// Proves: udt4.reset-limits
TEST_F(StatelessResetsTest, AreSentToAllHostsTogetherAtALimitedRate) {
  int answered = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::string host = "10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250);
    answered += resets.answer(now, data(), endpoint(host.c_str(), 1000)).empty() ? 0 : 1;
  }
  EXPECT_EQ(answered, 1000);
}

TEST_F(StatelessResetsTest, AreWhatTheSpecificationShows) {
  EXPECT_EQ(udtcat::test::to_hex(encode(StatelessReset{0x2fd3ab96, 0x0102'0304'0506'0708})),
            udtcat::test::to_hex(udtcat::test::SpecExample("udt4.md", "reset").bytes("packet")));
}

TEST_F(StatelessResetsTest, AreDecodedOnlyWhole) {
  const auto whole = encode(StatelessReset{5, 7});
  EXPECT_EQ(whole.size(), kResetBytes);
  EXPECT_EQ(decode_reset(whole)->token, 7U);
  for_each_damage(whole, [&](const std::vector<std::byte>& damaged) {
    const auto reset = decode_reset(damaged);
    EXPECT_TRUE(!reset || damaged.size() == kResetBytes);
  });
}

class ClosedConnectionsTest : public testing::Test {
 protected:
  bool answers(TimePoint now, std::uint32_t id) { return closed.answer(now, id, peer, data) != nullptr; }
  void forget(std::uint32_t id) { closed.add(kStart, id, peer, std::vector<std::byte>(20, std::byte(id))); }
  const std::vector<std::byte> data = std::vector<std::byte>(100);
  Endpoint peer = endpoint("192.0.2.1", 1000);
  ClosedConnections closed;
};

TEST_F(ClosedConnectionsTest, AnswerForAMinute) {
  forget(5);
  const auto* const shutdown = closed.answer(kStart, 5, peer, data);
  ASSERT_NE(shutdown, nullptr);
  EXPECT_EQ(*shutdown, std::vector<std::byte>(20, std::byte{5}));
  EXPECT_TRUE(answers(kStart + 59s, 5));
  EXPECT_FALSE(answers(kStart + 61s, 5));
}

TEST_F(ClosedConnectionsTest, AnswerTheirPeerOnly) {
  forget(5);
  EXPECT_EQ(closed.answer(kStart, 5, peer.with_port(1001), data), nullptr);
  EXPECT_FALSE(answers(kStart, 6));
}

TEST_F(ClosedConnectionsTest, AnswerAFlightOnce) {
  forget(5);
  int answered = 0;
  for (TimePoint now = kStart; now < kStart + 100ms; now += 100us) answered += answers(now, 5) ? 1 : 0;
  EXPECT_EQ(answered, 5);
}

TEST_F(ClosedConnectionsTest, DoNotAnswerAShutdown) {
  forget(5);
  const auto shutdown = encode(ControlHeader{ControlType::shutdown, 0, 0, 0, 5}, std::vector<std::uint32_t>{0});
  EXPECT_EQ(closed.answer(kStart, 5, peer, shutdown), nullptr);
}

TEST_F(ClosedConnectionsTest, GiveWayToNewOnes) {
  for (std::uint32_t id = 1; id <= 1025; ++id) forget(id);
  EXPECT_FALSE(answers(kStart, 1));
  EXPECT_TRUE(answers(kStart, 2));
  EXPECT_TRUE(answers(kStart, 1025));
}

}  // namespace
}  // namespace udtcat::transport::native
