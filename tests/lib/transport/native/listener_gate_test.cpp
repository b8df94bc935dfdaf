// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/listener_gate.hpp"

#include <gtest/gtest.h>

#include <udtcat/key.hpp>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

/// The gate of a port, with a key or without.
class Gate : public testing::Test {
 protected:
  static ListenerGate make(const PortKeys* keys) {
    return ListenerGate::create({1500, 360, std::nullopt}, 9000, keys).value();
  }
  static std::vector<std::byte> induction() {
    const HandshakePacket request{.initial_sequence = 1000, .mss = 1400, .flow_window = 100, .socket_id = 5};
    return encode(request, 0, kMarker, std::nullopt);
  }
  /// A data packet for a socket of ours.
  static std::vector<std::byte> data(std::uint32_t destination) {
    std::vector<std::byte> packet(100);
    encode(DataHeader{1, 2, 3, destination}, std::span(packet).first<kHeaderBytes>());
    return packet;
  }
  std::vector<std::byte> stray_answer(ListenerGate& gate, std::uint32_t id) {
    return gate.answer_stray(kStart, id, data(id), peer);
  }
  /// A connection of our socket 7 to the peer's 5.
  UdtConnection closed_connection() {
    ConnectionSettings settings;
    settings.local_id = 7;
    settings.peer_id = 5;
    settings.mss = 1500;
    settings.flow_window = 100;
    settings.peer_address = peer;
    settings.started = kStart;
    return {settings, chunks};
  }

  core::ChunkPool chunks{65'536};
  Key key = Key::generate().value();
  PortKeys keys = PortKeys::derive({.own = key.bytes(), .door = key.bytes()}).value();
  Endpoint peer = endpoint("192.0.2.1", 1000);
  ListenerGate keyless = make(nullptr);
  ListenerGate keyed = make(&keys);
};

TEST_F(Gate, HasAProofOfTheKeyOnlyWithAKey) {
  EXPECT_EQ(keyless.key_proof(), nullptr);
  EXPECT_NE(keyed.key_proof(), nullptr);
}

TEST_F(Gate, AnswersAClient) {
  const auto no_numbers = [](bool) { return std::nullopt; };
  EXPECT_FALSE(keyless.handle(kStart, induction(), peer, no_numbers).reply.empty());
  EXPECT_FALSE(keyed.handle(kStart, induction(), peer, no_numbers).reply.empty());
}

TEST_F(Gate, RefusesAHundredClientsOfAPrefixASecond) {
  int refused = 0;
  for (int i = 0; i < 1000; ++i) refused += keyless.refuse(kStart, induction(), peer).empty() ? 0 : 1;
  EXPECT_EQ(refused, 100);
  int others = 0;
  for (const char* address : {"198.51.100.1", "198.51.101.1", "198.51.102.1"})
    others += keyless.refuse(kStart, induction(), endpoint(address, 1000)).empty() ? 0 : 1;
  EXPECT_GE(others, 2) << "other prefixes, one of which may have its place by chance";
}

TEST_F(Gate, DrawsTheTokenThatAResetWillTell) {
  const auto token = keyed.draw_token(7, peer).value();
  const auto reset = decode_reset(stray_answer(keyed, 7));
  ASSERT_TRUE(reset);
  EXPECT_EQ(reset->id, 7U);
  EXPECT_EQ(reset->token, token);
  EXPECT_EQ(make(&keys).draw_token(7, peer).value(), token) << "the process that is started next";
}

TEST_F(Gate, IsSilentToStraysWithoutAKey) {
  EXPECT_TRUE(stray_answer(keyless, 7).empty());
  EXPECT_NE(keyless.draw_token(7, peer).value(), keyless.draw_token(7, peer).value()) << "drawn at random";
}

TEST_F(Gate, RepeatsTheGoodbyeOfAClosedConnectionInsteadOfAReset) {
  const auto closed = closed_connection();
  keyed.remember(kStart, closed);
  EXPECT_EQ(stray_answer(keyed, 7), closed.goodbye_packet());
  EXPECT_TRUE(stray_answer(keyed, 7).empty()) << "not so soon again, and no reset either";
  EXPECT_TRUE(decode_reset(stray_answer(keyed, 8))) << "another socket";
}

}  // namespace
}  // namespace udtcat::transport::native
