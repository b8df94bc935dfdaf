// SPDX-License-Identifier: Apache-2.0
/// The needs of a libudt at the other end, and our prohibitions towards it, packet by packet.
#include <algorithm>
#include <set>

#include "interop/scripted_link.hpp"

namespace udtcat::test::interop {
namespace {

bool is_data(const PacketView& packet) { return packet.is_data(); }
bool is_ack(const PacketView& packet) { return packet.is(Type::ack); }
bool is_full_ack(const PacketView& packet) { return packet.is(Type::ack) && packet.words() > 1; }
bool is_nak(const PacketView& packet) { return packet.is(Type::nak); }

class UdtConformance : public ByRole {
 protected:
  UdtConformance() : link(make_scripted_link(role())) {}
  void SetUp() override { ASSERT_TRUE(link.up()); }
  ScriptedPeer& peer() { return *link.peer; }
  ScriptedPort& port() { return *link.port; }
  /// A packet's worth.
  [[nodiscard]] std::vector<std::byte> full() const { return std::vector<std::byte>(link.peer->payload_bytes()); }

  ScriptedLink link;
};
UDTCAT_FOR_BOTH_ROLES(UdtConformance);

TEST_P(UdtConformance, CarriesBytesBothWays) {
  EXPECT_EQ(link.ails(1), "") << link.tell();
  EXPECT_EQ(link.ails(3), "") << link.tell();
}

// --- As a receiver.

TEST_P(UdtConformance, AcknowledgesAShortPacketAtOnceAndAgainUntilItIsHeard) {
  const auto begin = Clock::now();
  peer().send_data(Pattern(1).bytes(0, 10));
  const auto first = port().hear_one(is_full_ack, 1s);
  ASSERT_TRUE(first) << link.tell();
  EXPECT_LT(Clock::now() - begin, 100ms) << link.tell();
  EXPECT_EQ(first->view().word(0), peer().next_sequence());
  // libudt may have lost the first one of a connection.
  const auto second = port().hear_one(is_full_ack, 1s);
  ASSERT_TRUE(second) << "no second ACK although the first was not confirmed" << link.tell();
  EXPECT_LT(second->at - first->at, 500ms);
}

TEST_P(UdtConformance, StopsRepeatingAConfirmedAcknowledgement) {
  peer().send_data(Pattern(1).bytes(0, 10));
  ASSERT_TRUE(peer().wait_until_acknowledged(1s)) << link.tell();
  std::ignore = peer().wait_for([](auto&) { return false; }, 300ms);  // confirms what is under way
  std::size_t acks = 0;
  for (const Heard& each : port().hear_all(1s)) acks += is_ack(each.view()) ? 1U : 0U;
  EXPECT_LE(acks, 1U) << link.tell();
}

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

TEST_P(UdtConformance, GivesLightAcknowledgementsToAFastSender) {
  constexpr int kFlights = 20;
  constexpr int kFlight = 128;
  // Someone reads: what finds no room is dropped, and earns no acknowledgement.
  std::ignore =
      link.ours->start_receiving(Pattern(1), std::uint64_t{kFlights} * kFlight * peer().payload_bytes(), 1456);
  std::size_t light = 0;
  std::uint64_t offset = 0;
  for (int flight = 0; flight < kFlights; ++flight) {
    for (int i = 0; i < kFlight; ++i, offset += peer().payload_bytes())
      peer().send_data(Pattern(1).bytes(offset, peer().payload_bytes()));
    std::ignore = peer().wait_for(
        [&](const PacketView& packet) {
          light += is_ack(packet) && packet.words() == 1 ? 1U : 0U;
          return peer().acknowledged() == peer().next_sequence();
        },
        200ms);
  }
  EXPECT_GT(light, 3U) << "libudt's congestion window is clocked by them" << link.tell();
}

TEST_P(UdtConformance, AsksForAHoleAtOnceAndUntilItIsFilled) {
  const auto bytes = Pattern(1).bytes(0, 60);
  const std::uint32_t first = peer().next_sequence();
  peer().send_data_at(first, std::span(bytes).first(10));
  peer().send_data_at(advanced(first, 4), std::span(bytes).subspan(40, 10));
  const auto begin = Clock::now();
  std::vector<Heard> naks;
  while (Clock::now() - begin < 2500ms)
    if (auto nak = peer().wait_for(is_nak, 200ms)) naks.push_back(std::move(*nak));
  ASSERT_GE(naks.size(), 3U) << "libudt's sender waits for ever for a NAK that is lost" << link.tell();
  EXPECT_LE(naks.size(), 40U) << link.tell();
  EXPECT_LT(naks.front().at - begin, 500ms) << link.tell();
  for (const Heard& each : naks) {
    const PacketView nak = each.view();
    ASSERT_EQ(nak.payload().size() % 4, 0U);
    ASSERT_GE(nak.words(), 1U) << nak.text();
    EXPECT_EQ(nak.word(0), advanced(first, 1) | kControlBit) << nak.text();
    EXPECT_EQ(nak.word(1), advanced(first, 3)) << nak.text();
  }
  for (std::uint32_t i = 1; i < 4; ++i) peer().send_data_at(advanced(first, i), std::span(bytes).subspan(i * 10, 10));
  std::vector<std::byte> got(50);
  EXPECT_EQ(link.ours->read(got, 2s), "") << link.tell();
  EXPECT_EQ(Pattern(1).difference(0, got), std::nullopt);
  std::ignore = peer().wait_for([](auto&) { return false; }, 100ms);
  EXPECT_FALSE(peer().wait_for(is_nak, 500ms)) << "there is no hole any more" << link.tell();
}

TEST_P(UdtConformance, AsksForNothingThatWasNotSent) {
  const std::uint32_t first = peer().next_sequence();
  for (const std::uint32_t offset : {0U, 2U, 3U, 7U, 20U})
    peer().send_data_at(advanced(first, offset), Pattern(1).bytes(offset * 10, 10));
  const auto begin = Clock::now();
  while (Clock::now() - begin < 700ms) {
    const auto heard = peer().wait_for(is_nak, 100ms);
    if (!heard) continue;
    const PacketView nak = heard->view();
    std::int32_t last = 0;
    for (std::size_t i = 0; i < nak.words(); ++i) {
      const bool range = (nak.word(i) & kControlBit) != 0;
      ASSERT_FALSE(range && i + 1 == nak.words()) << "it ends in the beginning of a range: " << nak.text();
      const std::int32_t from = distance(first, nak.word(i) & kSequenceMask);
      const std::int32_t to = range ? distance(first, nak.word(++i)) : from;
      ASSERT_GT(from, last) << "ascending, without overlaps: " << nak.text();
      ASSERT_GE(to, from) << nak.text();
      ASSERT_LT(to, 20) << "beyond the highest that was sent: " << nak.text();
      last = to;
    }
  }
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

TEST_P(UdtConformance, SendsNoPacketLargerThanAgreed) {
  link.ours->start_write(Pattern(1).bytes(0, 100'000));
  const auto bytes = peer().collect(100'000, 5s);
  EXPECT_EQ(bytes.size(), 100'000U) << link.tell();
  EXPECT_EQ(Pattern(1).difference(0, bytes), std::nullopt);
  EXPECT_LE(peer().largest_payload(), peer().payload_bytes());
}

// libudt hands nothing up between the ticks of its 100 ms clock, unless the last packet is short or a packet follows.
TEST_P(UdtConformance, EndsABurstSoThatLibudtHandsItUpAtOnce) {
  EXPECT_EQ(link.ails(1), "") << link.tell();
  peer().answers_data = false;
  link.ours->start_write(std::vector<std::byte>(4 * peer().payload_bytes()));
  const std::uint32_t first = peer().expected_sequence();
  std::optional<Heard> last;
  bool prompted = false;
  const auto begin = Clock::now();
  std::size_t bytes = 0;
  std::set<std::uint32_t> seen;
  while (Clock::now() - begin < 90ms) {
    auto heard = port().hear(90ms);
    if (!heard) break;
    const PacketView packet = heard->view();
    if (packet.is_data() && distance(first, packet.sequence()) >= 0 && seen.insert(packet.sequence()).second) {
      bytes += packet.payload().size();
      prompted = packet.payload().size() != peer().payload_bytes();
      last = std::move(heard);
    } else if (last && heard->at - last->at > 8ms) {
      prompted = true;
    }
  }
  ASSERT_EQ(bytes, 4 * peer().payload_bytes()) << link.tell();
  EXPECT_TRUE(prompted) << "a full last packet and then nothing for 90 ms" << link.tell();
}

TEST_P(UdtConformance, SendsAgainWhatIsAskedFor) {
  peer().answers_data = false;
  link.ours->start_write(Pattern(1).bytes(0, 10'000));
  std::set<std::uint32_t> seen;
  std::ignore = port().hear_one(
      [&](const PacketView& packet) {
        if (packet.is_data()) seen.insert(packet.sequence());
        return seen.size() == 7;
      },
      2s);
  ASSERT_GE(seen.size(), 7U) << link.tell();
  const std::uint32_t first = peer().initial_sequence();
  for (const Words& list : {Words{advanced(first, 1)}, Words{advanced(first, 2) | kControlBit, advanced(first, 3)}}) {
    const std::uint32_t asked = list.front() & kSequenceMask;
    peer().send_nak(list);
    EXPECT_TRUE(port().hear_one([&](auto& packet) { return packet.is_data() && packet.sequence() == asked; }, 250ms))
        << link.tell();
  }
}

TEST_P(UdtConformance, SendsAgainByItselfWhatNobodyAcknowledges) {
  peer().answers_data = false;
  link.ours->start_write(Pattern(1).bytes(0, 100));
  const std::uint32_t first = peer().initial_sequence();
  std::vector<Clock::time_point> copies;
  const auto begin = Clock::now();
  // Where no round trip is known the first copy waits for a second, the next for two.
  while (Clock::now() - begin < 3500ms)
    if (auto heard = port().hear_one(is_data, 500ms); heard && heard->view().sequence() == first) {
      copies.push_back(heard->at);
      peer().send_control(Type::keep_alive, 0, {0});  // libudt's own timer would begin anew
    }
  EXPECT_GE(copies.size(), 3U) << link.tell();
  EXPECT_LE(copies.size(), 60U) << link.tell();
}

TEST_P(UdtConformance, TriesAClosedWindowNowAndThen) {
  // Two packets in flight are allowed, and neither is acknowledged.
  peer().answers_data = false;
  link.ours->start_write(Pattern(1).bytes(0, 9 * 1456));
  ASSERT_TRUE(port().hear_one(is_data, 2s));
  std::ignore = port().hear_all(50ms);
  const std::uint32_t first = peer().initial_sequence();
  peer().send_full_ack(advanced(first, 10), 2);
  std::ignore = port().hear_all(200ms);
  link.ours->start_write(Pattern(2).bytes(0, 200 * 1456));
  std::size_t tries = 0;
  std::uint32_t highest = first;
  const auto begin = Clock::now();
  while (Clock::now() - begin < 2s)
    if (const auto heard = port().hear_one(is_data, 500ms)) {
      ++tries;
      if (distance(highest, heard->view().sequence()) > 0) highest = heard->view().sequence();
    }
  EXPECT_LE(distance(first, highest), 15) << "a window of 2 packets was overrun" << link.tell();
  EXPECT_GE(tries, 3U) << "libudt never says that it has room again" << link.tell();
  EXPECT_LE(tries, 80U) << link.tell();
}

TEST_P(UdtConformance, StaysInsideTheWindowOfTheHandshake) {
  ScriptedLink narrow = make_scripted_link(role(), {.initial_sequence = 100, .window = 3, .id = 0x2fd3ab96});
  ASSERT_TRUE(narrow.up());
  narrow.ours->start_write(Pattern(1).bytes(0, 100'000));
  std::int32_t highest = -1;
  narrow.peer->answers_data = false;
  std::ignore = narrow.peer->wait_for(
      [&](const PacketView& packet) {
        if (packet.is_data()) highest = std::max(highest, distance(narrow.peer->initial_sequence(), packet.sequence()));
        return false;
      },
      150ms);
  narrow.peer->answers_data = true;
  narrow.peer->send_full_ack(narrow.peer->expected_sequence(), 3);
  EXPECT_GE(highest, 0) << narrow.tell();
  EXPECT_LT(highest, 3) << narrow.tell();
  const auto bytes = narrow.peer->collect(100'000, 10s);
  EXPECT_EQ(bytes.size(), 100'000U) << narrow.tell();
}

TEST_P(UdtConformance, TakesLightAcknowledgementsForProgress) {
  ScriptedLink narrow = make_scripted_link(role(), {.initial_sequence = 100, .window = 16, .id = 0x2fd3ab96});
  ASSERT_TRUE(narrow.up());
  narrow.ours->start_write(Pattern(1).bytes(0, 64 * 1456));
  std::set<std::uint32_t> seen;
  const auto begin = Clock::now();
  std::uint32_t next = narrow.peer->initial_sequence();
  // A light ACK lets the left edge go and keeps the right one; now and then a full one opens the window.
  while (seen.size() < 30 && Clock::now() - begin < 3s) {
    const auto heard = narrow.port->hear_one(is_data, 300ms);
    if (!heard) continue;
    seen.insert(heard->view().sequence());
    while (seen.contains(next)) next = advanced(next, 1);
    seen.size() % 8 == 0 ? narrow.peer->send_full_ack(next, 16) : narrow.peer->send_light_ack(next);
  }
  EXPECT_GE(seen.size(), 30U) << narrow.tell();
}

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

TEST_P(UdtConformance, AnswersAPacketAfterTheEndThatItIsOver) {
  link.ours->close(1s);
  ASSERT_TRUE(port().hear_one([](auto& packet) { return packet.is(Type::shutdown); }, 2s)) << link.tell();
  link.ours.reset();
  std::ignore = port().hear_all(1500ms);
  for (int i = 0; i < 3; ++i) {
    peer().send_control(Type::keep_alive, 0, {0});
    EXPECT_TRUE(port().hear_one([](auto& packet) { return packet.is(Type::shutdown); }, 1s)) << port().log();
    std::ignore = port().hear_all(300ms);
  }
}

TEST_P(UdtConformance, DoesNotShutDownBeforeTheLastAcknowledgement) {
  peer().answers_data = false;
  link.ours->start_write(Pattern(1).bytes(0, 5000));
  link.ours->close(10s);
  for (const Heard& each : port().hear_all(800ms)) ASSERT_FALSE(each.view().is(Type::shutdown)) << link.tell();
  peer().answers_data = true;
  EXPECT_EQ(peer().collect(5000, 3s).size(), 5000U) << link.tell();
  EXPECT_TRUE(peer().wait_for([](auto& packet) { return packet.is(Type::shutdown); }, 2s)) << link.tell();
}

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
