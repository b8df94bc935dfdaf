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

/// Proves: udt4.asks-by-clock
TEST_P(OurConnector, StartsNoStormOverRepeatedAnswers) {
  start(10s);
  const auto asked = question(kInduction);
  ASSERT_TRUE(asked) << port.log();
  Handshake reply = *handshake_of(asked->view());
  reply.cookie = 0xcafe;
  for (int i = 0; i < 50; ++i) answer(*asked, reply);
  EXPECT_LE(port.hear_all(200ms).size(), 4U) << port.log();
}

}  // namespace
}  // namespace udtcat::test::interop
