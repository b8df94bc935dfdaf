// SPDX-License-Identifier: Apache-2.0
/// The helpers around libudt, and the pattern, judged by themselves.
#include <gtest/gtest.h>

#include "interop/peer_process.hpp"
#include "interop/raw_udt.hpp"

namespace udtcat::test::interop {
namespace {

TEST(Patterns, ExplainAByteThatIsWrong) {
  const Pattern pattern(7);
  auto bytes = pattern.bytes(13, 100'000);
  EXPECT_FALSE(pattern.difference(13, bytes));
  const auto displaced = pattern.bytes(13 + 50'000 + 1456, 50'000);
  std::copy(displaced.begin(), displaced.end(), bytes.begin() + 50'000);
  EXPECT_EQ(pattern.difference(13, bytes).value_or(""),
            "byte 50013 is wrong: what stands there belongs at 51469 (1456)");
  EXPECT_TRUE(Pattern(8).difference(13, bytes));
}

TEST(RawUdt, CarriesBytesBothWaysAndEnds) {
  RawListener listener;
  const auto client = RawSocket::connect(loopback(AddressFamily::ipv4, listener.port()));
  ASSERT_TRUE(client) << RawSocket::why();
  const auto server = listener.accept(5s);
  ASSERT_TRUE(server);
  constexpr std::uint64_t kBytes = 16 << 20;
  const Job up = server->start_receiving_to_the_end(Pattern(1));
  const Job down = client->start_receiving(Pattern(2), kBytes);
  const Job sent_up = client->start_sending(Pattern(1), kBytes);
  const Job sent_down = server->start_sending(Pattern(2), kBytes);
  EXPECT_TRUE(complete(down.wait(30s), kBytes)) << client->counters();
  EXPECT_TRUE(complete(sent_up.wait(30s), kBytes));
  EXPECT_TRUE(complete(sent_down.wait(30s), kBytes));
  client->close(10s);
  const Transfer all = up.wait(10s);
  EXPECT_TRUE(complete(all, kBytes));
  EXPECT_TRUE(all.ended);
}

TEST(RawUdt, SharesAPortAmongConnections) {
  RawListener listener;
  std::uint16_t port = 0;
  std::vector<std::unique_ptr<RawSocket>> sockets;
  for (const std::byte word : {std::byte{1}, std::byte{2}}) {
    auto& client =
        sockets.emplace_back(RawSocket::connect(loopback(AddressFamily::ipv4, listener.port()), {.local_port = port}));
    ASSERT_TRUE(client) << RawSocket::why();
    EXPECT_EQ(client->send({&word, 1}), "");
    // A byte that has arrived proves that libudt has done with the arrival: 4.11 crashes if its listener closes before.
    const auto server = listener.accept(5s);
    ASSERT_TRUE(server);
    std::byte heard{};
    EXPECT_EQ(server->receive_all({&heard, 1}), "");
    EXPECT_EQ(heard, word);
    EXPECT_TRUE(port == 0 || client->local_port() == port);
    port = client->local_port();
  }
}

TEST(RawUdt, GivesUpOnAListenerNobodyComesTo) {
  RawListener listener;
  EXPECT_FALSE(listener.accept(50ms));
}

TEST(PeerProcesses, ConnectAndDie) {
  RawListener listener;
  PeerProcess connecting(Who::libudt, listener.port());
  const auto socket = listener.accept(10s);
  ASSERT_TRUE(socket);
  EXPECT_EQ(connecting.line(5s), "connected");
  PeerProcess listening(Who::libudt);
  const auto client = RawSocket::connect(loopback(AddressFamily::ipv4, listening.port()));
  ASSERT_TRUE(client) << RawSocket::why();
  std::byte dot{};
  EXPECT_EQ(client->receive_all({&dot, 1}), "");
  EXPECT_EQ(dot, std::byte{'.'});
  listening.kill();
  connecting.freeze();
  connecting.kill();
}

}  // namespace
}  // namespace udtcat::test::interop
