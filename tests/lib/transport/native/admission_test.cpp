// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/admission.hpp"

#include <gtest/gtest.h>

#include <udtcat/key.hpp>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

/// The admission of a port, with a key or without.
class AdmissionTest : public testing::Test {
 protected:
  static Admission make(const PortKeys* keys) {
    return Admission::create({1500, 360, std::nullopt}, 9000, keys).value();
  }
  static std::vector<std::byte> induction() {
    const HandshakePacket request{.initial_sequence = 1000, .mss = 1400, .flow_window = 100, .socket_id = 5};
    return encode(request, 0, kMarker, std::nullopt);
  }
  /// By the cookie of an answer to induction().
  static std::vector<std::byte> conclusion_after(const std::vector<std::byte>& answer) {
    auto request = decode_handshake(std::span(answer).subspan(kHeaderBytes)).value();
    request.request = Request::conclusion;
    return encode(request, 0, 0, std::nullopt);
  }
  static Result<PassiveOpen::Numbers> draw() { return PassiveOpen::Numbers{77, 0}; }
  /// The kind of the answer; none: silence.
  std::optional<Request> answer(Admission& admission, const std::vector<std::byte>& packet, const Endpoint& from) {
    const auto reply = admission.handle(kStart, packet, from, none, draw).reply;
    if (reply.empty()) return std::nullopt;
    return decode_handshake(std::span(reply).subspan(kHeaderBytes)).value().request;
  }
  /// A data packet for a socket of ours.
  static std::vector<std::byte> data(std::uint32_t destination) {
    std::vector<std::byte> packet(100);
    encode(DataHeader{1, 2, 3, destination}, std::span(packet).first<kHeaderBytes>());
    return packet;
  }
  std::vector<std::byte> answer_unknown(Admission& admission, std::uint32_t id) {
    return admission.answer_unknown(kStart, id, data(id), peer);
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

  const ConnectionTable none;
  core::ChunkPool chunks{65'536};
  Key key = Key::generate().value();
  PortKeys keys = PortKeys::derive({.own = key.bytes(), .admission_key = key.bytes()}).value();
  Endpoint peer = endpoint("192.0.2.1", 1000);
  Admission keyless = make(nullptr);
  Admission keyed = make(&keys);
};

TEST_F(AdmissionTest, HasAProofOfTheKeyOnlyWithAKey) {
  EXPECT_EQ(keyless.key_proof(), nullptr);
  EXPECT_NE(keyed.key_proof(), nullptr);
}

TEST_F(AdmissionTest, AnswersAnInductionWhileItListens) {
  for (Admission* const admission : {&keyless, &keyed}) {
    admission->listen({.has_room = [](bool) { return true; }, .on_link = [](UdtLink&) {}});
    EXPECT_EQ(answer(*admission, induction(), peer), Request::induction);
  }
}

TEST_F(AdmissionTest, DrawsNumbersForAConclusionWhereThereIsRoom) {
  bool has_room = false;
  keyless.listen({.has_room = [&](bool) { return has_room; }, .on_link = [](UdtLink&) {}});
  const auto conclusion = conclusion_after(keyless.handle(kStart, induction(), peer, none, draw).reply);
  EXPECT_TRUE(keyless.handle(kStart, conclusion, peer, none, draw).reply.empty()) << "there may be room later";
  has_room = true;
  const auto verdict = keyless.handle(kStart, conclusion, peer, none, draw);
  ASSERT_TRUE(verdict.accepted);
  EXPECT_EQ(verdict.accepted->local_id, 77U);
}

TEST_F(AdmissionTest, RefusesAHundredClientsOfAPrefixASecondWhileItDoesNotListen) {
  EXPECT_EQ(answer(keyless, induction(), peer), Request::refused);
  int refused = 1;
  for (int i = 0; i < 1000; ++i) refused += answer(keyless, induction(), peer) ? 1 : 0;
  EXPECT_EQ(refused, 100);
  int others = 0;
  for (const char* address : {"198.51.100.1", "198.51.101.1", "198.51.102.1"})
    others += answer(keyless, induction(), endpoint(address, 1000)) ? 1 : 0;
  EXPECT_GE(others, 2) << "other prefixes, one of which may have its place by chance";
}

TEST_F(AdmissionTest, DrawsTheTokenOfAFutureReset) {
  const auto token = keyed.draw_token(7, peer).value();
  const auto reset = decode_reset(answer_unknown(keyed, 7));
  ASSERT_TRUE(reset);
  EXPECT_EQ(reset->id, 7U);
  EXPECT_EQ(reset->token, token);
  EXPECT_EQ(make(&keys).draw_token(7, peer).value(), token) << "the process that is started next";
}

/// Proves: udt4.reset-limits, threat-model.reset-small
TEST_F(AdmissionTest, IsSilentToAnUnknownConnectionWithoutAKey) {
  EXPECT_TRUE(answer_unknown(keyless, 7).empty());
  EXPECT_NE(keyless.draw_token(7, peer).value(), keyless.draw_token(7, peer).value()) << "drawn at random";
}

TEST_F(AdmissionTest, RepeatsTheShutdownOfAClosedConnectionInsteadOfAReset) {
  const auto closed = closed_connection();
  keyed.on_closed(kStart, closed);
  EXPECT_EQ(answer_unknown(keyed, 7), closed.shutdown_packet());
  EXPECT_TRUE(answer_unknown(keyed, 7).empty()) << "not so soon again, and no reset either";
  EXPECT_TRUE(decode_reset(answer_unknown(keyed, 8))) << "another socket";
}

}  // namespace
}  // namespace udtcat::transport::native
