// SPDX-License-Identifier: Apache-2.0
/// How our listener lets clients in, asked by hand: golden bytes, and what it may not believe.
#include <array>
#include <set>

#include "interop/handshake_support.hpp"

namespace udtcat::test::interop {
namespace {

using testing::ElementsAre;

constexpr std::uint32_t kIsn = 645103309;  // of a connection of two libudts
constexpr std::uint32_t kClientId = 0x2fd3ab96;

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
  EXPECT_EQ(heard->datagram.size(), kHeaderBytes + kHandshakeBytes) << "nothing more for a client that sent no marker";
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

}  // namespace
}  // namespace udtcat::test::interop
