// SPDX-License-Identifier: Apache-2.0
/// src/lib/transport/native: what connections send beside data, and heed, packet by packet, in virtual time.
#include <algorithm>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "lib/transport/native/packet.hpp"
#include "lib/transport/native/simulated_path.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;
using enum SimulatedPath::End;

class ControlPackets : public testing::TestWithParam<PeerKind> {};
INSTANTIATE_TEST_SUITE_P(ToEitherKind, ControlPackets, testing::Values(PeerKind::own, PeerKind::plain),
                         [](const auto& each) { return each.param == PeerKind::own ? "Own" : "Plain"; });

/// Proves: udt4.no-congestion-warning, udt4.no-drop-error
TEST_P(ControlPackets, AreNeitherWarningsNorDropsNorErrorsHoweverManyPacketsAreLost) {
  SimulatedPath path({.loss = 0.05}, GetParam());
  std::size_t seen = 0;
  path.set_filter([&](SimulatedPath::End, std::span<std::byte> datagram) {
    if (!is_control(datagram)) return true;
    ++seen;
    const ControlType type = decode_control_header(datagram).type;
    for (const auto unsaid : {ControlType::congestion_warning, ControlType::message_drop, ControlType::error})
      EXPECT_NE(type, unsaid);
    return true;
  });
  for (const auto end : {kNear, kFar}) path.write(end, 1'000'000);
  path.at(kNear).close(path.now(), 30s);
  ASSERT_TRUE(path.run_until([&] { return path.at(kFar).state() == UdtConnection::State::peer_closed; }, 60s));
  EXPECT_GT(seen, 100U);
}

/// Proves: udt4.no-congestion-warning, udt4.no-drop-error
TEST_P(ControlPackets, ThatWarnOrDropChangeNothing) {
  SimulatedPath path({}, GetParam());
  path.write(kNear, 1'000'000);
  path.run_for(5ms);
  const std::uint64_t sent = path.datagrams(kNear);
  for (const auto type : {ControlType::congestion_warning, ControlType::message_drop, ControlType::error}) {
    const auto packet = encode(ControlHeader{type, 0, 1, 0, 1}, std::vector<std::uint32_t>{1000, 1010});
    for (const auto end : {kNear, kFar})
      path.at(end).handle_packet(path.now(), packet, path.at(end).peer_address(), std::nullopt, {});
  }
  EXPECT_EQ(path.datagrams(kNear), sent);
  EXPECT_TRUE(path.run_until([&] { return path.read_bytes(kFar) == 1'000'000; }, 10s));
  EXPECT_TRUE(path.intact());
  EXPECT_EQ(path.at(kNear).state(), UdtConnection::State::open);
}

TransportOptions plain_options(std::chrono::milliseconds idle_timeout) {
  TransportOptions options;
  options.idle_timeout = idle_timeout;
  return options;
}

/// Proves: udt4.keep-alive-times
TEST(KeepAlives, ComeEachSecondOrToAPlainPeerAfterAnEighthOfTheIdleTimeoutOrTenSeconds) {
  using Case = std::tuple<PeerKind, std::chrono::milliseconds, Duration>;
  for (const auto& [kind, idle_timeout, every] :
       {Case{PeerKind::own, 40s, 1s}, Case{PeerKind::plain, 40s, 5s}, Case{PeerKind::plain, 1000s, 10s}}) {
    SimulatedPath path({}, kind, plain_options(idle_timeout));
    path.run_for(10s);
    std::vector<TimePoint> times;
    path.set_filter([&](SimulatedPath::End sender, std::span<std::byte> datagram) {
      if (sender == kNear && decode_control_header(datagram).type == ControlType::keep_alive)
        times.push_back(path.now());
      return true;
    });
    path.run_for(100s);
    ASSERT_GT(times.size(), 5U);
    for (std::size_t i = 1; i < times.size(); ++i) {
      EXPECT_GE(times[i] - times[i - 1], every - 10ms);
      EXPECT_LE(times[i] - times[i - 1], every + 10ms);
    }
  }
}

bool is_priority_datagram(std::span<const std::byte> datagram) {
  return is_control(datagram) && decode_control_header(datagram).type == ControlType::user &&
         decode_control_header(datagram).subtype == static_cast<std::uint16_t>(Extension::datagram);
}

/// Proves: udt4.datagram-once
TEST(PriorityDatagrams, AreSentOnceWhetherTheyArriveOrNot) {
  for (const bool lost : {false, true}) {
    SimulatedPath path;
    path.run_for(100ms);
    const std::uint64_t counted = path.at(kNear).stats().packets_sent;
    std::size_t sent = 0;
    std::size_t answers = 0;
    path.set_filter([&](SimulatedPath::End sender, std::span<std::byte> datagram) {
      if (is_priority_datagram(datagram)) ++sent;
      const ControlType type = decode_control_header(datagram).type;
      if (sender == kFar && (type == ControlType::ack || type == ControlType::nak)) ++answers;
      return !(lost && is_priority_datagram(datagram));
    });
    path.at(kNear).send_datagram(std::vector<std::byte>(5));
    path.run_for(20s);
    EXPECT_EQ(sent, 1U);
    EXPECT_EQ(answers, 0U);
    EXPECT_EQ(path.at(kNear).stats().packets_sent, counted);
    EXPECT_EQ(path.at(kFar).take_datagram().has_value(), !lost);
  }
}

/// Proves: udt4.datagram-once
TEST(PriorityDatagrams, WaitForNoPace) {
  SimulatedPath path({.rate = BitRate::from_bits_per_second(1'000'000), .delay = 50ms});
  path.write_on(kNear);
  path.run_for(5s);
  std::size_t sent = 0;
  path.set_filter([&](SimulatedPath::End, std::span<std::byte> datagram) {
    if (is_priority_datagram(datagram)) ++sent;
    return true;
  });
  for (int i = 0; i < 10; ++i) path.at(kNear).send_datagram(std::vector<std::byte>(1000));
  path.run_for(1ms);
  EXPECT_EQ(sent, 10U) << "at this rate they would take 80 ms";
}

/// Proves: stream.copies-where-waiting
TEST(PriorityDatagrams, HaveRoomBehindMoreThanFourPackets) {
  SimulatedPath path({.delay = 50ms});
  path.write(kNear, 4 * 1236);
  EXPECT_EQ(path.at(kNear).datagram_room_bytes(path.now()), 0U);
  path.write(kNear, 1);
  EXPECT_GT(path.at(kNear).datagram_room_bytes(path.now()), 0U);
}

/// Proves: stream.copies-where-waiting
TEST(PriorityDatagrams, HaveNoRoomWhereNothingIsInFlightOrLost) {
  SimulatedPath path;
  EXPECT_EQ(path.at(kNear).datagram_room_bytes(path.now()), 0U);
  path.write(kNear, 1'000'000);
  ASSERT_TRUE(path.run_until([&] { return path.at(kNear).all_acknowledged(); }, 10s));
  EXPECT_EQ(path.at(kNear).datagram_room_bytes(path.now()), 0U);
}

/// Proves: stream.copies-where-waiting
TEST(PriorityDatagrams, HaveRoomForSecondsAfterALoss) {
  SimulatedPath path({.loss = 0.02});
  path.write(kNear, 1'000'000);
  ASSERT_TRUE(path.run_until([&] { return path.at(kNear).all_acknowledged(); }, 10s));
  EXPECT_GT(path.at(kNear).datagram_room_bytes(path.now()), 0U);
  path.run_for(11s);
  EXPECT_EQ(path.at(kNear).datagram_room_bytes(path.now()), 0U);
}

TEST(PriorityDatagrams, AreNotSentToAPlainPeer) {
  SimulatedPath path({}, PeerKind::plain);
  path.write(kNear, 1'000'000);
  EXPECT_EQ(path.at(kNear).datagram_room_bytes(path.now()), 0U);
}

/// Proves: udt4.packet-size-limit
TEST(PacketSizes, GrowToTheMssOfTheHandshakeAtMost) {
  for (const std::uint32_t mss : {1300U, 1500U}) {
    SimulatedPath path({.rate = BitRate::from_bits_per_second(50'000'000), .mtu = 9000}, PeerKind::own, {}, 1, mss);
    std::size_t largest = 0;
    path.set_filter([&](SimulatedPath::End, std::span<std::byte> datagram) {
      largest = std::max(largest, datagram.size() + 28);
      return true;
    });
    path.write_on(kNear);
    path.run_for(4s);
    EXPECT_EQ(largest, mss);
  }
}

}  // namespace
}  // namespace udtcat::transport::native
