// SPDX-License-Identifier: Apache-2.0
/// The relay judged by two libudts, so that it can judge ours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "interop/raw_udt.hpp"
#include "interop/sequence_shift.hpp"
#include "support/udp_relay.hpp"

namespace udtcat::test::interop {
namespace {

class Relay : public testing::Test {
 protected:
  void connect() {
    client = RawSocket::connect(loopback(AddressFamily::ipv4, relay.port()));
    ASSERT_TRUE(client) << RawSocket::why();
    server = listener.accept(5s);
    ASSERT_TRUE(server);
  }
  void carry(std::uint64_t bytes, std::chrono::milliseconds limit = 20s) {
    const Job sent = client->start_sending(Pattern(1), bytes);
    const Job got = server->start_receiving(Pattern(1), bytes);
    EXPECT_TRUE(complete(got.wait(limit), bytes)) << client->counters() << relay.last_words();
    EXPECT_TRUE(complete(sent.wait(limit), bytes));
  }

  RawListener listener;
  UdpRelay relay{listener.port()};
  std::unique_ptr<RawSocket> client;
  std::unique_ptr<RawSocket> server;
};

TEST_F(Relay, CarriesAConnection) {
  relay.capture();
  connect();
  carry(8 << 20);
  EXPECT_EQ(relay.dropped(Towards::listener) + relay.dropped(Towards::connector), 0U);
  const auto handshakes = relay.captured(Towards::connector, [](auto& packet) { return packet.is(Type::handshake); });
  ASSERT_GE(handshakes.size(), 2U);
  EXPECT_EQ(handshake_of(handshakes.front().view())->request, kInduction);
  EXPECT_EQ(handshake_of(handshakes.back().view())->request, kConclusion);
}

TEST_F(Relay, LosesPacketsThatLibudtSendsAgain) {
  connect();
  relay.impair(Towards::listener, {.drop = 0.01});
  carry(2 << 20);
  EXPECT_GT(relay.dropped(Towards::listener), 3U);
}

TEST_F(Relay, DropsWhatARuleSays) {
  relay.rule(Towards::listener, [dropped = 0](const PacketView& packet) mutable {
    return Fate{.drop = packet.is_data() && dropped++ == 0};
  });
  connect();
  carry(1000);
  EXPECT_EQ(relay.dropped(Towards::listener), 1U);
}

TEST_F(Relay, DuplicatesAndReorders) {
  connect();
  relay.impair(Towards::listener, {.duplicate = 0.1, .delayed = 0.05, .delay = 20ms});
  relay.impair(Towards::connector, {.duplicate = 0.1, .delayed = 0.05, .delay = 20ms, .seed = 2});
  carry(1 << 20);
}

TEST_F(Relay, KeepsPacketsForTheTimeAsked) {
  connect();
  carry(1000);
  relay.impair(Towards::listener, {.delay_of_all = 50ms});
  const auto before = Clock::now();
  carry(1000);
  EXPECT_GT(Clock::now() - before, 45ms);
}

TEST_F(Relay, SwallowsEverythingWhenTold) {
  connect();
  relay.blackhole(Towards::listener, true);
  const Job got = server->start_receiving(Pattern(1), 1000);
  const Job sent = client->start_sending(Pattern(1), 1000);
  EXPECT_FALSE(got.wait_for_bytes(1, 200ms));
  relay.blackhole(Towards::listener, false);
  EXPECT_TRUE(complete(got.wait(10s), 1000));
}

TEST_F(Relay, ComesFromAnotherPortWhenTold) {
  connect();
  carry(1000);
  relay.change_source_ports();
  const Job got = server->start_receiving(Pattern(1), 1000);
  const Job sent = client->start_sending(Pattern(1), 1000);
  EXPECT_FALSE(got.wait_for_bytes(1, 500ms)) << "libudt knows its peers by their address";
}

TEST_F(Relay, InjectsWhatNobodySent) {
  relay.capture();
  connect();
  carry(1000);
  const auto data = relay.captured(Towards::listener, [](auto& packet) { return packet.is_data(); });
  ASSERT_FALSE(data.empty());
  relay.inject(Towards::listener, control_packet(Type::shutdown, 0, data[0].view().destination(), {0}));
  EXPECT_TRUE(server->wait_until_broken(3s));
}

TEST_F(Relay, ShiftsSequenceNumbersAcrossTheirWrap) {
  constexpr std::uint32_t kFirst = 0x7ffffff0;
  relay.capture();
  const SequenceShift shift(relay, kFirst);
  relay.impair(Towards::listener, {.drop = 0.01});
  connect();
  carry(1 << 20);
  const auto data = relay.captured(Towards::listener, [](auto& packet) { return packet.is_data(); });
  ASSERT_FALSE(data.empty());
  EXPECT_EQ(data.front().view().sequence(), kFirst);
  EXPECT_LT(data.back().view().sequence(), 2000U);
}

}  // namespace
}  // namespace udtcat::test::interop
