// SPDX-License-Identifier: Apache-2.0
/// The scripted end judged by libudt, so that it can judge ours.
#include <gtest/gtest.h>

#include "interop/pattern.hpp"
#include "interop/raw_udt.hpp"
#include "interop/scripted_peer.hpp"

namespace udtcat::test::interop {
namespace {

constexpr Handshake kClient{.initial_sequence = 0x7ffffff0, .id = 0x1234567};

class Scripted : public testing::TestWithParam<AddressFamily> {
 protected:
  ScriptedPort port{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(BothFamilies, Scripted, testing::Values(AddressFamily::ipv4, AddressFamily::ipv6),
                         [](const auto& row) { return row.param == AddressFamily::ipv6 ? "Ipv6" : "Ipv4"; });

TEST_P(Scripted, ClientTransfersBothWaysAcrossTheWrap) {
  RawListener listener({}, GetParam());
  auto client = ScriptedPeer::connect(port, loopback(GetParam(), listener.port()), kClient);
  ASSERT_TRUE(client) << port.log();
  const auto server = listener.accept(5s);
  ASSERT_TRUE(server);
  EXPECT_EQ(client->theirs().initial_sequence, kClient.initial_sequence);
  EXPECT_EQ(client->theirs().mss, 1500U);
  constexpr std::size_t kPackets = 40;
  const Job got = server->start_receiving(Pattern(1), kPackets * 100);
  for (std::size_t i = 0; i < kPackets; ++i) client->send_data(Pattern(1).bytes(i * 100, 100));
  EXPECT_TRUE(client->wait_until_acknowledged(3s)) << port.log();
  EXPECT_TRUE(complete(got.wait(3s), kPackets * 100));
  const Job sent = server->start_sending(Pattern(2), 60'000);
  const auto bytes = client->collect(60'000, 10s);
  EXPECT_EQ(bytes.size(), 60'000U) << port.log();
  EXPECT_EQ(Pattern(2).difference(0, bytes), std::nullopt);
}

TEST_P(Scripted, ServerTransfersBothWays) {
  std::unique_ptr<RawSocket> client;
  std::thread connecting([&] { client = RawSocket::connect(port.endpoint()); });
  auto server = ScriptedPeer::accept(port, {.id = 0x7654321});
  connecting.join();
  ASSERT_TRUE(server) << port.log();
  ASSERT_TRUE(client);
  const Job sent = client->start_sending(Pattern(1), 60'000);
  const auto bytes = server->collect(60'000, 10s);
  EXPECT_EQ(bytes.size(), 60'000U) << port.log();
  EXPECT_EQ(Pattern(1).difference(0, bytes), std::nullopt);
  const Job got = client->start_receiving(Pattern(2), 1000);
  server->send_data(Pattern(2).bytes(0, 1000));
  EXPECT_TRUE(server->wait_until_acknowledged(3s)) << port.log();
  EXPECT_TRUE(complete(got.wait(3s), 1000));
}

TEST_P(Scripted, EndHearsWhatLibudtAsksForAgain) {
  RawListener listener({}, GetParam());
  auto client = ScriptedPeer::connect(port, loopback(GetParam(), listener.port()), kClient);
  ASSERT_TRUE(client) << port.log();
  client->send_data_at(kClient.initial_sequence, Pattern(1).bytes(0, 10));
  client->send_data_at(advanced(kClient.initial_sequence, 0x12), Pattern(1).bytes(20, 10));
  const auto nak = client->wait_for([](const PacketView& packet) { return packet.is(Type::nak); }, 2s);
  ASSERT_TRUE(nak) << port.log();
  EXPECT_EQ(nak->view().words(), 2U);
  EXPECT_EQ(nak->view().word(0), 0x7ffffff1U | kControlBit);
  EXPECT_EQ(nak->view().word(1), 1U);
}

}  // namespace
}  // namespace udtcat::test::interop
