// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/udt_connection.hpp"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "lib/core/byte_order.hpp"
#include "lib/transport/native/simulated_path.hpp"
#include "lib/transport/native/stateless_reset.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;
using enum SimulatedPath::End;

constexpr std::uint64_t kMegabyte = 1'000'000;

TransportOptions with_idle_timeout(std::chrono::milliseconds timeout) {
  TransportOptions options;
  options.idle_timeout = timeout;
  return options;
}

TransportOptions with_memory(std::uint64_t bytes) {
  TransportOptions options;
  options.memory_bytes = bytes;
  return options;
}

BitRate mbit(std::uint64_t value) { return BitRate::from_bits_per_second(value * 1'000'000); }

class Connections : public testing::TestWithParam<PeerKind> {};
INSTANTIATE_TEST_SUITE_P(OfEitherKind, Connections, testing::Values(PeerKind::own, PeerKind::plain),
                         [](const auto& each) { return each.param == PeerKind::own ? "Own" : "Plain"; });

struct Trouble {
  const char* name;
  PathSettings path;
};

class ConnectionsOverBadPaths : public testing::TestWithParam<std::tuple<PeerKind, Trouble>> {};
INSTANTIATE_TEST_SUITE_P(
    All, ConnectionsOverBadPaths,
    testing::Combine(testing::Values(PeerKind::own, PeerKind::plain),
                     testing::Values(Trouble{"Clean", {}}, Trouble{"OnePercent", {.loss = 0.01}},
                                     Trouble{"TenPercent", {.loss = 0.1}},
                                     Trouble{"Bursts", {.loss = 0.002, .loss_burst = 30}},
                                     Trouble{"Reordered", {.reorder = 0.02, .reorder_delay = 3ms}},
                                     Trouble{"Duplicated", {.duplicate = 0.05}},
                                     Trouble{"SmallQueue", {.rate = mbit(50), .queue_bytes = 20'000}})),
    [](const auto& each) {
      return std::string(std::get<0>(each.param) == PeerKind::own ? "Own" : "Plain") + std::get<1>(each.param).name;
    });

TEST_P(ConnectionsOverBadPaths, DeliverEveryByteInOrderBothWays) {
  const auto& [kind, trouble] = GetParam();
  SimulatedPath path(trouble.path, kind);
  path.write(kNear, 5 * kMegabyte);
  path.write(kFar, 3 * kMegabyte);
  EXPECT_TRUE(path.run_until(
      [&] { return path.read_bytes(kFar) == 5 * kMegabyte && path.read_bytes(kNear) == 3 * kMegabyte; }, 60s))
      << path.read_bytes(kFar) << " and " << path.read_bytes(kNear) << " bytes arrived";
  EXPECT_TRUE(path.intact());
  EXPECT_TRUE(
      path.run_until([&] { return path.at(kNear).all_acknowledged() && path.at(kFar).all_acknowledged(); }, 5s));
}

TEST_P(Connections, GoOnWhereSequenceNumbersWrap) {
  SimulatedPath path({.loss = 0.02}, GetParam(), {}, 0x7fff'fff0);
  path.write(kNear, kMegabyte);
  EXPECT_TRUE(path.run_until([&] { return path.read_bytes(kFar) == kMegabyte; }, 20s));
  EXPECT_TRUE(path.intact());
}

TEST(PlainConnection, IsSilentForLongerThanLibudtWaitsBeforeItSendsAgain) {
  SimulatedPath path({}, PeerKind::plain, with_idle_timeout(60s));
  path.run_for(1h);
  EXPECT_EQ(path.at(kNear).state(), UdtConnection::State::open);
  EXPECT_LT(path.datagrams(kNear), 3600U / 7 + 20);
}

TEST_P(Connections, SendShutdownWhenAllIsAcknowledged) {
  SimulatedPath path({.loss = 0.05}, GetParam());
  path.write(kNear, kMegabyte);
  path.at(kNear).close(path.now(), 30s);
  EXPECT_TRUE(path.run_until([&] { return path.at(kFar).state() == UdtConnection::State::peer_closed; }, 30s));
  EXPECT_EQ(path.read_bytes(kFar), kMegabyte);
  EXPECT_TRUE(path.intact());
}

TEST_P(Connections, StayAliveWithoutData) {
  SimulatedPath path({}, GetParam());
  path.run_for(1h);
  EXPECT_EQ(path.at(kNear).state(), UdtConnection::State::open);
  EXPECT_LT(path.datagrams(kNear), 3700U + 20) << "about one a second";
}

TEST_P(Connections, GiveASilentPeerUp) {
  SimulatedPath path({}, GetParam(), with_idle_timeout(20s));
  path.run_for(1s);
  path.set_outage(true);
  EXPECT_TRUE(path.run_until([&] { return path.at(kNear).state() == UdtConnection::State::lost; }, 21s));
}

TEST_P(Connections, GiveAPeerUpThatAnswersAllButData) {
  SimulatedPath path({}, GetParam(), with_idle_timeout(5s));
  path.write_on(kNear);
  path.run_for(1s);
  // A path whose MTU is too small for any data packet.
  path.set_path({.mtu = 200});
  EXPECT_TRUE(path.run_until([&] { return path.at(kNear).state() == UdtConnection::State::lost; }, 6s));
  EXPECT_NE(path.at(kFar).state(), UdtConnection::State::lost)
      << "it has heard keep-alives all the time, and misses nothing that it knows of";
}

TEST_P(Connections, WaitForAReaderThatTakesNothingForHours) {
  SimulatedPath path({}, GetParam(), with_idle_timeout(5s));
  path.stop_reading(kFar, true);
  path.write_on(kNear);
  path.run_for(2h);
  EXPECT_EQ(path.at(kNear).state(), UdtConnection::State::open);
  EXPECT_EQ(path.at(kFar).state(), UdtConnection::State::open);
}

TEST_P(Connections, WaitForASlowReaderAndGoOnAtOnce) {
  SimulatedPath path({}, GetParam(), with_memory(4 << 20));
  path.write(kNear, 40 * kMegabyte);
  path.run_for(500ms);
  path.stop_reading(kFar, true);
  path.run_for(70s);
  const std::uint64_t held = path.at(kFar).readable_bytes();
  EXPECT_LE(held, 5U << 20) << "bounded by --memory";
  path.stop_reading(kFar, false);
  EXPECT_TRUE(path.run_until([&] { return path.read_bytes(kFar) == 40 * kMegabyte; }, 5s));
  EXPECT_TRUE(path.intact());
}

TEST_P(Connections, RetransmitRepeatedlyWhileTheOtherDirectionIsBusy) {
  SimulatedPath path({}, GetParam());
  std::size_t lost = 0;
  path.set_filter([&](SimulatedPath::End sender, std::span<std::byte> datagram) {
    const bool chosen = sender == kNear && !is_control(datagram) && decode_data_header(datagram).sequence == 1100;
    return !chosen || ++lost > 3;
  });
  path.write(kNear, kMegabyte);
  path.write_on(kFar);
  EXPECT_TRUE(path.run_until([&] { return path.read_bytes(kFar) == kMegabyte; }, 3s));
  EXPECT_TRUE(path.intact());
}

TEST(UdtConnection, CountsBytesThatArriveBehindAGapAtBothEnds) {
  SimulatedPath path;
  path.set_filter([](SimulatedPath::End sender, std::span<std::byte> datagram) {
    return sender != kNear || is_control(datagram) || decode_data_header(datagram).sequence != 1100;
  });
  path.write(kNear, kMegabyte);
  path.run_for(1s);
  const ChannelStats near = path.at(kNear).stats();
  const ChannelStats far = path.at(kFar).stats();
  EXPECT_LT(far.bytes_received, kMegabyte / 2);
  EXPECT_GT(far.bytes_carried, kMegabyte - 2'000);
  EXPECT_EQ(near.bytes_carried, far.bytes_carried);
}

/// As libudt, which names each gap in one NAK: of the far end's NAKs only new gaps pass.
SimulatedPath::Filter ask_once() {
  return [asked = std::uint32_t{0}](SimulatedPath::End sender, std::span<std::byte> datagram) mutable {
    if (sender != kFar || !is_control(datagram) || decode_control_header(datagram).type != ControlType::nak)
      return true;
    const auto body = datagram.subspan(kHeaderBytes);
    std::vector<std::uint32_t> words;
    for (const SequenceRange& range : decode_loss_list(body))
      if (range.last > asked) append_loss(words, {std::max(range.first, asked + 1), range.last});
    if (words.empty()) return false;
    asked = words.back();
    words.resize(body.size() / sizeof asked, asked);  // repeated numbers have no effect
    for (std::size_t at = 0; at < words.size(); ++at)
      core::store_be<std::uint32_t>(body.subspan(at * sizeof asked), words[at]);
    return true;
  };
}

struct Loss {
  const char* name;
  double loss;
  BitRate least;
};
class ConnectionToAPeerThatSendsOneNak : public testing::TestWithParam<Loss> {};
INSTANTIATE_TEST_SUITE_P(All, ConnectionToAPeerThatSendsOneNak,
                         testing::Values(Loss{"Clean", 0, mbit(170)}, Loss{"APerMille", 0.001, mbit(150)},
                                         Loss{"HalfAPerCent", 0.005, mbit(140)}, Loss{"APerCent", 0.01, mbit(140)},
                                         Loss{"FivePerCent", 0.05, mbit(60)}, Loss{"TenPerCent", 0.1, mbit(15)}),
                         [](const auto& each) { return each.param.name; });

TEST_P(ConnectionToAPeerThatSendsOneNak, RetransmitsAPacketThatIsLostAgainInAFewRoundTrips) {
  SimulatedPath path({.rate = mbit(200), .loss = GetParam().loss, .queue_bytes = 500'000}, PeerKind::plain);
  path.set_filter(ask_once());
  path.write_on(kNear);
  EXPECT_GT(path.rate_over(kFar, 10s), static_cast<double>(GetParam().least.bits_per_second()));
  const ChannelStats stats = path.at(kNear).stats();
  EXPECT_LT(static_cast<double>(stats.packets_resent),
            (GetParam().loss + 0.05) * static_cast<double>(stats.packets_sent));
  EXPECT_TRUE(path.intact());
}

/// Drops each of `packets` packets of the near end, from `first` on, `times` times: a burst, and its retransmissions.
SimulatedPath::Filter lose_again(SimulatedPath::Filter others, std::uint32_t first, std::uint32_t packets, int times) {
  return [=, lost = std::map<std::uint32_t, int>{}](SimulatedPath::End sender, std::span<std::byte> datagram) mutable {
    if (sender == kFar || is_control(datagram)) return others(sender, datagram);
    const std::uint32_t sequence = decode_data_header(datagram).sequence;
    return sequence < first || sequence >= first + packets || ++lost[sequence] > times;
  };
}

TEST(UdtConnection, RetransmitsABurstThatIsLostThreeTimesThoughOneNakNamesIt) {
  SimulatedPath path({}, PeerKind::plain);
  constexpr std::uint32_t kPackets = 1'000;
  path.set_filter(lose_again(ask_once(), 3'000, kPackets, 3));
  constexpr std::uint64_t kBytes = 20 * kMegabyte;
  path.write(kNear, kBytes);
  EXPECT_TRUE(path.run_until([&] { return path.read_bytes(kFar) == kBytes; }, 5s)) << path.read_bytes(kFar);
  EXPECT_TRUE(path.intact());
}

TEST(UdtConnection, FillsALongFatPathInSpiteOfLightLoss) {
  SimulatedPath path({.rate = mbit(400), .delay = 37500us, .loss = 0.01, .queue_bytes = 4 << 20});
  path.write_on(kNear);
  path.run_for(4s);
  EXPECT_GT(path.rate_over(kFar, 4s), 0.92 * 4e8);
  EXPECT_TRUE(path.intact());
}

TEST(UdtConnection, ReachesTheFullRateInFifteenRoundTrips) {
  SimulatedPath path({.rate = mbit(2000), .delay = 37500us, .queue_bytes = 18 << 20});
  path.write_on(kNear);
  path.run_for(15 * 75ms);
  EXPECT_GT(path.rate_over(kFar, 300ms), 0.9 * 0.97 * 2e9);
}

TEST(UdtConnection, DoesNotTakeLatePacketsForLost) {
  SimulatedPath path({.rate = mbit(300), .delay = 25ms, .reorder = 0.02, .reorder_delay = 3ms, .queue_bytes = 6 << 20});
  path.write_on(kNear);
  path.run_for(5s);
  const ChannelStats stats = path.at(kNear).stats();
  EXPECT_LT(stats.packets_resent, stats.packets_sent * 3 / 100);
  EXPECT_GT(path.rate_over(kFar, 2s), 0.85 * 3e8);
}

TEST(UdtConnection, IsAtFullRateSoonAfterAnOutage) {
  SimulatedPath path({.rate = mbit(500), .delay = 25ms, .queue_bytes = 3 << 20}, PeerKind::own,
                     with_idle_timeout(120s));
  path.write_on(kNear);
  path.run_for(3s);
  const double before = path.rate_over(kFar, 1s);
  path.set_outage(true);
  path.run_for(60s);
  path.set_outage(false);
  path.run_for(10 * 50ms);
  EXPECT_GT(path.rate_over(kFar, 500ms), 0.85 * before) << "a probe for bandwidth, up or down, changes it by a tenth";
  EXPECT_TRUE(path.intact());
}

TEST(UdtConnection, FindsTheLargestPacketsThatThePathTakes) {
  for (const std::size_t mtu : {1280UL, 1400UL, 1500UL, 9000UL}) {
    SimulatedPath path({.rate = mbit(50), .mtu = mtu}, PeerKind::own, {}, 1, 9000);
    path.write_on(kNear);
    path.run_for(4s);
    std::size_t largest = 0;
    path.set_filter([&](SimulatedPath::End sender, std::span<std::byte> datagram) {
      if (sender == kNear && !is_control(datagram)) largest = std::max(largest, datagram.size() + 28);
      return true;
    });
    path.run_for(100ms);
    EXPECT_EQ(largest, mtu);
  }
}

TEST(UdtConnection, GoesOnWhereTheMtuShrinksWithoutIcmp) {
  SimulatedPath path({.rate = mbit(100)});
  path.write_on(kNear);
  path.run_for(2s);
  path.path(kNear).mtu = 1350;
  path.run_for(3s);
  EXPECT_GT(path.rate_over(kFar, 2s), 0.8e8);
  EXPECT_TRUE(path.intact());
}

TEST(UdtConnection, SendsLargePacketsInFragmentsThroughAShortQueue) {
  PathSettings wide{.rate = mbit(100), .delay = 150ms, .mtu = 65'535};
  SimulatedPath path(wide, PeerKind::own, {}, 1000, 65'535);
  path.write(kNear, kMegabyte);
  path.run_for(700ms);  // full packets are on their way
  path.set_outage(true);
  path.run_for(700ms);
  path.set_outage(false);
  wide.mtu = 1500;
  wide.queue_bytes = 20'000;  // less than one such packet
  path.set_path(wide);
  EXPECT_TRUE(path.run_until([&] { return path.read_bytes(kFar) == kMegabyte; }, 120s)) << path.read_bytes(kFar);
  EXPECT_TRUE(path.intact());
}

/// Proves: udt4.datagram-once
TEST(UdtConnection, CarriesAPriorityDatagramPastAGap) {
  SimulatedPath path;
  path.set_filter([](auto sender, auto datagram) { return sender != kNear || is_control(datagram); });
  path.write(kNear, kMegabyte);
  path.run_for(100ms);
  ASSERT_GT(path.at(kNear).datagram_room_bytes(path.now()), 0U);
  const std::vector<std::byte> word(5, std::byte{7});
  path.at(kNear).send_datagram(word);
  path.run_for(200ms);
  EXPECT_EQ(path.read_bytes(kFar), 0U);
  EXPECT_EQ(path.at(kFar).take_datagram(), word);
  EXPECT_EQ(path.at(kFar).take_datagram(), std::nullopt);
}

TEST(UdtConnection, BoundsThePriorityDatagramsThatItKeeps) {
  SimulatedPath path;
  const std::vector<std::byte> word(5);
  for (int round = 0; round < 10; ++round, path.run_for(100ms))
    for (int i = 0; i < 50; ++i) path.at(kNear).send_datagram(word);
  std::size_t kept = 0;
  while (path.at(kFar).take_datagram()) ++kept;
  EXPECT_EQ(kept, 64U);
}

TEST(UdtConnection, FollowsAPeerWhoseAddressChanges) {
  constexpr std::size_t kQueueBytes = 250'000;  // of a round trip: a longer queue would fill and drain for seconds
  SimulatedPath path({.rate = mbit(100), .queue_bytes = kQueueBytes});
  path.write_on(kNear);
  path.write_on(kFar);
  path.run_for(1s);
  path.move_near(path.at(kFar).peer_address().with_port(2001));
  path.run_for(1s);
  EXPECT_EQ(path.at(kFar).peer_address().port(), 2001);
  EXPECT_GT(path.rate_over(kNear, 1s), 0.65e8);
  EXPECT_GT(path.rate_over(kFar, 1s), 0.75e8);
  EXPECT_GT(path.rate_over(kNear, 1s), 0.75e8);
  EXPECT_TRUE(path.intact());
}

TEST(UdtConnection, FollowsAPeerWhoseAddressChangesOnALongPath) {
  SimulatedPath path({.rate = mbit(100), .delay = 100ms});
  path.write_on(kNear);
  path.run_for(1s);
  path.move_near(path.at(kFar).peer_address().with_port(2001));
  path.run_for(1s);
  EXPECT_EQ(path.at(kFar).peer_address().port(), 2001);
  EXPECT_TRUE(path.intact());
}

TEST(UdtConnection, SlowsDownWhileTheReceivingHostIsOverloaded) {
  SimulatedPath path({.rate = mbit(100), .delay = 10ms});
  path.write_on(kNear);
  path.run_for(2s);
  EXPECT_GT(path.rate_over(kFar, 1s), 0.9e8);
  double slowest = 1e8;
  for (std::uint64_t more = 1; more <= 20; ++more) {
    path.at(kFar).note_host_overloads(more);
    slowest = std::min(slowest, path.rate_over(kFar, 50ms));
  }
  EXPECT_LT(slowest, 0.7e8);
  path.run_for(10s);
  EXPECT_GT(path.rate_over(kFar, 1s), 0.9e8) << "as fast again when it is over";
  EXPECT_TRUE(path.intact());
}

TEST(UdtConnection, ShortensItsShutdownsWhereAResetWouldTellThePeer) {
  for (const auto peer : {PeerKind::own, PeerKind::plain}) {
    SimulatedPath path({}, peer);
    UdtConnection& near = path.at(kNear);
    near.close(path.now(), 0ms);
    near.shorten_shutdown(path.now());
    const TimePoint begin = path.now();
    ASSERT_TRUE(path.run_until([&] { return near.over(); }, 1s));
    EXPECT_EQ(path.now() - begin < 10ms, peer == PeerKind::own);
  }
}

/// Proves: threat-model.forged-packet
TEST(UdtConnection, IgnoresAForgedShutdown) {
  SimulatedPath path;
  const auto forged = encode(ControlHeader{ControlType::shutdown, 0, 0, 0, 1}, std::vector<std::uint32_t>{0, 0});
  path.at(kNear).handle_packet(path.now(), forged, path.at(kNear).peer_address(), std::nullopt, {});
  EXPECT_EQ(path.at(kNear).state(), UdtConnection::State::open);
}

TEST(UdtConnection, RespondsToNoRelayedChallenge) {
  SimulatedPath path;
  const auto challenge = encode(ControlHeader{ControlType::user, 1, 0, 0, 1}, std::vector<std::uint32_t>{12, 34});
  int answers = 0;
  path.set_filter([&](SimulatedPath::End sender, std::span<std::byte> datagram) {
    if (sender == kNear && is_control(datagram) && decode_control_header(datagram).type == ControlType::user &&
        decode_control_header(datagram).subtype == 2)
      ++answers;
    return true;
  });
  UdtConnection& near = path.at(kNear);
  near.handle_packet(path.now(), challenge, near.peer_address().with_port(666), std::nullopt, {});
  path.run_for(100ms);
  EXPECT_EQ(answers, 0);
  near.handle_packet(path.now(), challenge, near.peer_address(), std::nullopt, {});
  path.run_for(100ms);
  EXPECT_EQ(answers, 1) << "its peer's it does";
}

TEST(UdtConnection, IgnoresAForgedMtuReply) {
  SimulatedPath path({.mtu = 1280}, PeerKind::own, {}, 1000, 9000);
  const auto forged = encode(ControlHeader{ControlType::user, 4, 8972, 0, 1}, std::vector<std::uint32_t>{0});
  const Endpoint elsewhere = path.at(kNear).peer_address().with_port(666);
  path.at(kNear).handle_packet(path.now(), forged, elsewhere, std::nullopt, {});
  std::size_t largest = 0;
  path.set_filter([&](SimulatedPath::End sender, std::span<std::byte> datagram) {
    if (sender == kNear && !is_control(datagram)) largest = std::max(largest, datagram.size() + 28);
    return true;
  });
  path.write(kNear, kMegabyte);
  path.run_for(100ms);
  EXPECT_EQ(largest, 1280U);
}

TEST(UdtConnection, TakesNoDataFromAnAddressThatIsNotValidated) {
  SimulatedPath path;
  std::array<std::byte, kHeaderBytes + 100> packet{};
  encode(DataHeader{1000, 0, 0, 1}, std::span(packet).first<kHeaderBytes>());
  const Endpoint elsewhere = path.at(kNear).peer_address().with_port(666);
  path.at(kNear).handle_packet(path.now(), packet, elsewhere, std::nullopt, {});
  EXPECT_EQ(path.at(kNear).readable_bytes(), 0U);
  EXPECT_FALSE(path.at(kNear).peer_address() == elsewhere);
}

// ---- StatelessResets

constexpr std::uint64_t kTokens = 0x1111'0000'0000'0000;  // plus the end's number, as in SimulatedPath

TEST(ConnectionReset, EndsAConnectionThatThePeersProcessDoesNotKnow) {
  SimulatedPath path;
  path.write_on(kNear);
  path.run_for(100ms);
  path.at(kNear).handle_reset(kTokens + path.at(kFar).local_id());
  EXPECT_EQ(path.at(kNear).state(), UdtConnection::State::reset);
  EXPECT_TRUE(path.at(kNear).over());
  const auto sent = path.datagrams(kNear);
  path.run_for(10s);
  EXPECT_EQ(path.datagrams(kNear), sent) << "it says nothing more";
}

TEST(ConnectionReset, WithAForgedTokenIsIgnored) {
  SimulatedPath path;
  path.at(kNear).handle_reset(kTokens + path.at(kFar).local_id() + 1);
  path.at(kNear).handle_reset(0);
  EXPECT_EQ(path.at(kNear).state(), UdtConnection::State::open);
}

TEST(ConnectionReset, FromAPlainPeerIsIgnored) {
  SimulatedPath path({}, PeerKind::plain);
  path.at(kNear).handle_reset(kTokens + path.at(kFar).local_id());
  EXPECT_EQ(path.at(kNear).state(), UdtConnection::State::open);
}

TEST(ConnectionReset, IsNoLargerThanAnyPacketOfAnIdleConnection) {
  SimulatedPath path;
  std::size_t least = 1000;
  path.run_for(1s);
  path.set_filter([&](SimulatedPath::End, std::span<std::byte> datagram) {
    least = std::min(least, datagram.size());
    return true;
  });
  path.run_for(10s);
  EXPECT_GE(least, kResetBytes);
  EXPECT_LT(least, 100U) << "keep-alives";
}

}  // namespace
}  // namespace udtcat::transport::native
