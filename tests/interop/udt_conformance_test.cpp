// SPDX-License-Identifier: Apache-2.0
/// The needs of a libudt at the other end, and our prohibitions towards it, packet by packet.
#include <algorithm>

#include "interop/scripted_link.hpp"

namespace udtcat::test::interop {
namespace {

bool is_data(const PacketView& packet) { return packet.is_data(); }
bool is_ack(const PacketView& packet) { return packet.is(Type::ack); }

class UdtConformance : public ByRole {
 protected:
  UdtConformance() : link(make_scripted_link(role())) {}
  void SetUp() override { ASSERT_TRUE(link.up()); }
  ScriptedPeer& peer() { return *link.peer; }
  ScriptedPort& port() { return *link.port; }

  ScriptedLink link;
};
UDTCAT_FOR_BOTH_ROLES(UdtConformance);

TEST_P(UdtConformance, CarriesBytesBothWays) {
  EXPECT_EQ(link.ails(1), "") << link.tell();
  EXPECT_EQ(link.ails(3), "") << link.tell();
}

// --- As a receiver.

TEST_P(UdtConformance, AcknowledgesOnTenMillisecondsWithFiguresThatMakeSense) {
  // A steady stream of full packets, a few every millisecond, to a reader that keeps up.
  std::ignore = link.ours->start_receiving(Pattern(1), std::uint64_t{900} * peer().payload_bytes(), 1456);
  std::vector<Heard> acks;
  const auto begin = Clock::now();
  std::uint64_t offset = 0;
  for (int i = 0; i < 300; ++i) {
    for (int burst = 0; burst < 3; ++burst, offset += peer().payload_bytes())
      peer().send_data(Pattern(1).bytes(offset, peer().payload_bytes()));
    if (auto heard = peer().wait_for(is_ack, 1ms)) acks.push_back(std::move(*heard));
  }
  std::ignore = peer().wait_until_acknowledged(1s);
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
  std::size_t full_acks = 0;
  std::uint32_t number = 0;
  for (const Heard& each : acks) {
    const PacketView packet = each.view();
    if (packet.words() < 4) continue;
    ++full_acks;
    EXPECT_EQ(packet.info(), ++number) << "numbers from 1, one by one: " << packet.text();
    number = packet.info();
    EXPECT_LT(packet.word(1), 1'000'000U) << "RTT in microseconds: " << packet.text();
    EXPECT_GE(packet.word(3), 2U) << packet.text();
    EXPECT_LE(packet.word(3), 1U << 24) << packet.text();
  }
  ASSERT_FALSE(acks.empty()) << link.tell();
  EXPECT_EQ(peer().acknowledged(), peer().next_sequence()) << link.tell();
  EXPECT_GT(number, 0U) << link.tell();
  EXPECT_GE(full_acks, static_cast<std::size_t>(took.count()) / 40)
      << "one every 10 ms, in " << took.count() << " ms" << link.tell();
  EXPECT_LE(full_acks, 20 + static_cast<std::size_t>(took.count()) / 4) << link.tell();
}

// --- As a sender.

TEST_P(UdtConformance, ConfirmsFullAcknowledgementsAndNoLightOnes) {
  link.ours->start_write(Pattern(1).bytes(0, 3000));
  peer().answers_data = false;
  ASSERT_TRUE(peer().wait_for(is_data, 2s)) << link.tell();
  peer().send_light_ack(advanced(peer().initial_sequence(), 1));
  EXPECT_FALSE(port().hear_one([](auto& packet) { return packet.is(Type::ack2); }, 200ms)) << link.tell();
  for (const std::size_t words : {std::size_t{4}, std::size_t{6}}) {
    Words ack{advanced(peer().initial_sequence(), 1), 10'000, 1000, 8192, 1000, 10'000};
    ack.resize(words);
    peer().send_control(Type::ack, 77 + static_cast<std::uint32_t>(words), ack);
    const auto ack2 = port().hear_one([](auto& packet) { return packet.is(Type::ack2); }, 500ms);
    ASSERT_TRUE(ack2) << words << " words" << link.tell();
    EXPECT_EQ(ack2->view().info(), 77U + words);
    EXPECT_EQ(ack2->view().destination(), peer().mine().id);
  }
}

/// Proves: udt4.no-congestion-warning, udt4.no-drop-error
TEST_P(UdtConformance, NeverDropsAMessageOfAStream) {
  peer().answers_data = false;
  link.ours->start_write(Pattern(1).bytes(0, 30'000));
  for (const Heard& each : port().hear_all(1500ms)) {
    EXPECT_FALSE(each.view().is(Type::drop)) << each.view().text();
    EXPECT_FALSE(each.view().is(Type::congestion_warning)) << each.view().text();
    EXPECT_FALSE(each.view().is_control() && each.view().destination() != peer().mine().id) << each.view().text();
  }
}

// --- At the beginning.

TEST(FirstPackets, OfOurListenerWaitUntilLibudtCanHearThem) {
  std::vector<std::chrono::microseconds> waits;
  for (int i = 0; i < 7; ++i) {
    OurEnd end;
    ScriptedPort port;
    const Endpoint server = loopback(AddressFamily::ipv4, end.listen());
    end.start_accept();
    auto peer = ScriptedPeer::connect(port, server, {.initial_sequence = 1000, .id = 0x2fd3ab96});
    ASSERT_TRUE(peer) << port.log();
    const auto answered = Clock::now();
    const auto channel = end.accepted(2s);
    ASSERT_TRUE(channel);
    channel->start_write(Pattern(1).bytes(0, 100));
    const auto data = port.hear_one(is_data, 1s);
    ASSERT_TRUE(data) << port.log();
    waits.push_back(std::chrono::duration_cast<std::chrono::microseconds>(data->at - answered));
  }
  std::sort(waits.begin(), waits.end());
  std::printf("first data after %ld to %ld us\n", waits.front().count(), waits.back().count());
  EXPECT_GE(waits[0], 8ms) << "libudt loses what comes within 8 ms of the answer";
  EXPECT_LT(waits[3], 60ms);
}

TEST(FirstPackets, ToOurListenerMayOvertakeTheAccept) {
  OurEnd end;
  ScriptedPort port;
  const Endpoint server = loopback(AddressFamily::ipv4, end.listen());
  auto peer = ScriptedPeer::connect(port, server, {.initial_sequence = 1000, .id = 0x2fd3ab96});
  ASSERT_TRUE(peer) << port.log();
  peer->send_data(Pattern(1).bytes(0, 100));
  std::ignore = peer->wait_until_acknowledged(300ms);
  end.start_accept();
  const auto channel = end.accepted(2s);
  ASSERT_TRUE(channel);
  std::vector<std::byte> got(100);
  EXPECT_EQ(channel->read(got, 2s), "");
  EXPECT_EQ(Pattern(1).difference(0, got), std::nullopt);
}

// --- At the end.

// libudt throws away at a SHUTDOWN what only a light one has told of.
TEST_P(UdtConformance, DoesNotShutDownOnALightAcknowledgement) {
  peer().answers_data = false;
  link.ours->start_write(Pattern(1).bytes(0, 5000));
  link.ours->close(10s);
  EXPECT_EQ(peer().collect(5000, 3s).size(), 5000U) << link.tell();
  peer().send_light_ack(peer().expected_sequence());
  for (const Heard& each : port().hear_all(300ms)) ASSERT_FALSE(each.view().is(Type::shutdown)) << link.tell();
  peer().send_full_ack(peer().expected_sequence());
  EXPECT_TRUE(peer().wait_for([](auto& packet) { return packet.is(Type::shutdown); }, 2s)) << link.tell();
}

TEST_P(UdtConformance, HandsUpWhatCameBeforeTheShutdown) {
  const auto bytes = Pattern(1).bytes(0, 2 * peer().payload_bytes() + 10);
  for (std::size_t at = 0; at < bytes.size(); at += peer().payload_bytes())
    peer().send_data(std::span(bytes).subspan(at, std::min(peer().payload_bytes(), bytes.size() - at)));
  peer().send_control(Type::shutdown, 0, {0});
  std::vector<std::byte> got(bytes.size());
  EXPECT_EQ(link.ours->read(got, 2s), "") << "libudt itself throws this away; we need not" << link.tell();
  EXPECT_EQ(Pattern(1).difference(0, got), std::nullopt);
  EXPECT_NE(link.ours->read(got, 2s), "");
}

}  // namespace
}  // namespace udtcat::test::interop
