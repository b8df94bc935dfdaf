// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/tcp/tcp_connection.hpp"

#include "lib/transport/transport_fixture.hpp"

namespace udtcat::transport::tcp {
namespace {

TransportOptions options_of(BitRate rate, std::chrono::milliseconds idle_timeout) {
  TransportOptions options = options_for(TransportKind::tcp);
  options.rate = rate;
  options.idle_timeout = idle_timeout;
  return options;
}

class TcpConnections : public TransportTest {
 protected:
  explicit TcpConnections(BitRate rate = {}) : TransportTest(options_of(rate, 500ms)) {}
};

class PacedTcpConnections : public TcpConnections {
 protected:
  PacedTcpConnections() : TcpConnections(BitRate::from_bits_per_second(80'000'000)) {}
};

TEST_F(TcpConnections, WaitForAReaderThatPausesLongerThanTheIdleTimeout) {
  auto pair = connect_pair(AddressFamily::ipv4);
  const auto bytes = random_bytes(32 << 20, 1);
  pair.here->async_write(copy_of(bytes), [](const Status&) {});
  run_for(3s);
  std::vector<std::byte> got(bytes.size());
  ASSERT_TRUE(read(*pair.there, got));
  EXPECT_TRUE(got == bytes);
}

TEST_F(TcpConnections, LiveThoughNothingIsSaidForLongerThanTheIdleTimeout) {
  auto pair = connect_pair(AddressFamily::ipv4);
  run_for(2s);
  ASSERT_TRUE(write(*pair.here, random_bytes(10, 1)));
  std::vector<std::byte> got(10);
  EXPECT_TRUE(read(*pair.there, got));
}

TEST_F(TcpConnections, TellABreakFromAnEnd) {
  auto pair = connect_pair(AddressFamily::ipv4);
  // It is not read, so that the rest cannot be sent: there is no end behind the gap.
  pair.here->async_write(copy_of(random_bytes(96 << 20, 1)), [](const Status&) {});
  run_for(100ms);
  pair.here->close(0ms);
  std::vector<std::byte> into(1 << 20);
  for (;;) {
    const auto got = read_some(*pair.there, into);
    if (!got) {
      EXPECT_EQ(got.error().code, Errc::connection_broken);
      return;
    }
    ASSERT_GT(*got, 0U) << "an end, and bytes are missing";
  }
}

TEST_F(TcpConnections, GiveWhatCameBeforeABreak) {
  auto pair = connect_pair(AddressFamily::ipv4);
  const auto bytes = random_bytes(1000, 1);
  ASSERT_TRUE(write(*pair.there, bytes));
  pair.there->close(5s);
  run_for(100ms);
  // Two: the first is answered by a reset.
  for (int i = 0; i < 2; ++i) {
    pair.here->async_write(copy_of(random_bytes(10, 1)), [](const Status&) {});
    run_for(50ms);
  }
  std::vector<std::byte> got(bytes.size());
  ASSERT_TRUE(read(*pair.here, got));
  EXPECT_TRUE(got == bytes);
}

TEST_F(PacedTcpConnections, KeepToTheRate) {
  auto pair = connect_pair(AddressFamily::ipv4);
  const auto bytes = random_bytes(10'000'000, 1);
  const auto before = Clock::now();
  pair.here->async_write(copy_of(bytes), [](const Status&) {});
  std::vector<std::byte> got(bytes.size());
  ASSERT_TRUE(read(*pair.there, got));
  EXPECT_GT(Clock::now() - before, 700ms) << "a second, but for what leaves at once";
}

TEST_F(TcpConnections, SayWhatTheSystemKnows) {
  auto pair = connect_pair(AddressFamily::ipv4);
  const auto bytes = random_bytes(8 << 20, 1);
  pair.here->async_write(copy_of(bytes), [](const Status&) {});
  std::vector<std::byte> got(bytes.size());
  ASSERT_TRUE(read(*pair.there, got));
  ASSERT_TRUE(drained(*pair.here));
  const ChannelStats stats = pair.here->stats();
  EXPECT_GT(stats.rtt, 0us);
  EXPECT_GT(stats.packets_sent, 0U);
  EXPECT_GE(stats.bytes_carried, bytes.size());
  EndStats end;
  pair.here->add_end_stats(end);
  EXPECT_GT(end.path_rate.bits_per_second(), 0U);
  EXPECT_TRUE(end.least_rtt);
  EXPECT_EQ(end.packet_bytes, 0U) << "datagrams are UDP's";
  EXPECT_EQ(pair.here->datagram_room_bytes(), 0U);
}

}  // namespace
}  // namespace udtcat::transport::tcp
