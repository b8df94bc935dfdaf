// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/udt_sender.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kFirstSent = 1000;
constexpr std::size_t kSentPayload = 1000;

struct Sent {
  DataHeader header;
  std::vector<std::byte> payload;
};

/// A sender, the packets that leave, and the peer's answers.
class UdtSenderTest : public testing::TestWithParam<PeerKind> {
 protected:
  UdtSenderTest() : UdtSenderTest(settings(GetParam())) {}
  explicit UdtSenderTest(const UdtSender::Settings& how) : sender(how) {}
  static UdtSender::Settings settings(PeerKind kind) {
    return {.peer = kind,
            .initial_sequence = kFirstSent,
            .peer_id = 9,
            .window_packets = 500,
            .payload_bytes = kSentPayload,
            .memory_bytes = 1 << 20,
            .congestion = CongestionKind::fixed,
            .rate_cap = BitRate::from_bits_per_second(8'000'000'000),
            .started = kStart};
  }
  void write(std::size_t bytes) {
    sender.write(core::SharedBytes::adopt(numbered_bytes(bytes, written_)));
    written_ += bytes;
  }
  std::vector<Sent> next_train() {
    std::vector<Sent> all;
    builder_.clear();
    if (!sender.poll_train(now, builder_)) return all;
    auto piece = builder_.train().pieces.begin();
    for (const auto count : builder_.train().piece_counts) {
      Sent& packet = all.emplace_back(Sent{decode_data_header(*piece), {}});
      for (int i = 1; i < count; ++i) packet.payload.insert(packet.payload.end(), piece[i].begin(), piece[i].end());
      piece += count;
    }
    return all;
  }
  std::vector<Sent> sent() {
    std::vector<Sent> all;
    for (auto train = next_train(); !train.empty(); train = next_train())
      std::ranges::move(train, std::back_inserter(all));
    return all;
  }
  /// Passes time as the driver would, and collects what leaves.
  std::vector<Sent> sent_within(Duration time) {
    std::vector<Sent> all = sent();
    for (const TimePoint end = now + time; now < end;) {
      now = std::clamp(sender.deadline(now).value_or(end), now + 1us, end);
      sender.handle_timeout(now);
      for (Sent& each : sent()) all.push_back(std::move(each));
    }
    return all;
  }
  void ack(PacketIndex next, std::uint64_t received_bytes, std::uint32_t window_packets = 500,
           std::uint32_t free_kib = 512) {
    Acknowledgement said;
    said.next = static_cast<std::uint32_t>(kFirstSent + next);
    said.window_packets = window_packets;
    if (GetParam() == PeerKind::own)
      said.extended = ExtendedReport{.highest = said.next - 1, .received_bytes = received_bytes, .free_kib = free_kib};
    sender.on_ack(now, said);
  }
  void nak(PacketIndex first, PacketIndex last) {
    const SequenceRange range{static_cast<std::uint32_t>(kFirstSent + first),
                              static_cast<std::uint32_t>(kFirstSent + last)};
    sender.on_nak(now, std::span(&range, 1));
  }
  static std::vector<std::uint32_t> sequences(const std::vector<Sent>& all) {
    std::vector<std::uint32_t> numbers;
    for (const Sent& each : all) numbers.push_back(each.header.sequence - kFirstSent);
    return numbers;
  }
  using Numbers = std::vector<std::uint32_t>;

  TimePoint now = kStart;
  UdtSender sender;

 private:
  TrainBuilder builder_{64, 65'000};
  std::uint64_t written_ = 0;
};

INSTANTIATE_TEST_SUITE_P(OfEitherKind, UdtSenderTest, testing::Values(PeerKind::own, PeerKind::plain),
                         [](const auto& each) { return each.param == PeerKind::own ? "Own" : "Plain"; });
using UdtSenderToOurs = UdtSenderTest;
INSTANTIATE_TEST_SUITE_P(Own, UdtSenderToOurs, testing::Values(PeerKind::own));
using UdtSenderToPlain = UdtSenderTest;
INSTANTIATE_TEST_SUITE_P(Plain, UdtSenderToPlain, testing::Values(PeerKind::plain));

TEST_P(UdtSenderTest, CutsTheStreamIntoPackets) {
  write(2500);
  const auto all = sent();
  ASSERT_EQ(sequences(all), (Numbers{0, 1, 2}));
  EXPECT_EQ(all[1].payload, numbered_bytes(1000, 1000));
  EXPECT_EQ(all[2].payload, numbered_bytes(500, 2000));
  EXPECT_EQ(all[0].header.destination, 9U);
  EXPECT_EQ(sender.sent_offset(), 2500U);
  EXPECT_EQ(sender.in_flight_bytes(), 2500U);
}

TEST_P(UdtSenderTest, HasNothingInFlightWhenAllIsAcknowledged) {
  write(2500);
  sent();
  now += 10ms;
  ack(3, 2500);
  EXPECT_TRUE(sender.all_acknowledged());
  EXPECT_EQ(sender.in_flight_bytes(), 0U);
  EXPECT_FALSE(sender.deadline(now));
}

TEST_P(UdtSenderTest, RetransmitsBeforeNewData) {
  write(10'500);
  sent();
  now += 10ms;
  nak(3, 4);
  EXPECT_EQ(sender.stats().packets_lost, 2U);
  write(1500);
  EXPECT_EQ(sequences(sent()), (Numbers{3, 4, 11, 12}));
  EXPECT_EQ(sender.stats().packets_resent, 2U);
}

TEST_P(UdtSenderTest, IgnoresANakOfAPacketThatWasJustSentAgain) {
  write(10'500);
  sent();
  now += 10ms;
  ack(1, 1000);  // so that a round trip is known
  now += 10ms;
  nak(3, 4);
  const Numbers twice{3, 4, 3, 4};
  EXPECT_EQ(sequences(sent()), GetParam() == PeerKind::own ? twice : (Numbers{3, 4})) << "nothing follows it";
  now += 1ms;
  nak(3, 4);
  EXPECT_TRUE(sent().empty());
}

/// Proves: udt4.senseless-ignored
TEST_P(UdtSenderTest, IgnoresImpossibleAcksAndNaks) {
  write(2500);
  sent();
  ack(4, 2500);
  ack(100'000, 2500);
  nak(2, 3);
  nak(3, 100'000);
  EXPECT_EQ(sender.in_flight_bytes(), 2500U);
  EXPECT_EQ(sender.stats().packets_lost, 0U);
  EXPECT_TRUE(sent().empty());
}

TEST_P(UdtSenderTest, KeepsWithinTheFlowWindow) {
  write(20'500);
  sent();
  now += 10ms;
  ack(21, 20'500, 4);
  write(20'500);
  EXPECT_EQ(sent().size(), 4U);
}

TEST_P(UdtSenderTest, ProbesAClosedFlowWindow) {
  write(1500);
  sent();
  now += 10ms;
  ack(2, 1500, 0, 0);
  write(5000);
  EXPECT_TRUE(sent().empty());
  EXPECT_EQ(sequences(sent_within(1s)).front(), 2U);
}

TEST_P(UdtSenderTest, IgnoresAnOldFlowWindow) {
  write(4500);
  sent();
  now += 10ms;
  ack(5, 4500, 500);
  ack(3, 3000, 0, 0);
  write(1500);
  EXPECT_EQ(sent().size(), 2U);
}

TEST_P(UdtSenderTest, ProbesWithTheOldestAndTheNewestInSilence) {
  write(5500);
  sent();
  const auto again = sequences(sent_within(4s));
  ASSERT_GE(again.size(), 4U);
  EXPECT_EQ((Numbers{again[0], again[1]}), (Numbers{0, 5})) << "the oldest and the newest";
  EXPECT_GE(sender.unanswered_probes(), 2U);
  ack(6, 5500);
  EXPECT_EQ(sender.unanswered_probes(), 0U);
}

TEST_P(UdtSenderTest, HoldsNoMoreThanItsMemory) {
  for (int i = 0; i < 100; ++i) {
    write(100'000);
    sent();
    now += 1ms;
  }
  EXPECT_LE(sender.sent_offset(), 1U << 20);
}

TEST_P(UdtSenderTest, WaitsUntilThePeerIsReady) {
  auto held = settings(GetParam());
  held.hold_until = kStart + 10ms;
  UdtSender patient(held);
  patient.write(core::SharedBytes::adopt(numbered_bytes(10)));
  TrainBuilder builder(64, 65'000);
  EXPECT_FALSE(patient.poll_train(kStart + 9ms, builder));
  EXPECT_EQ(patient.deadline(kStart), kStart + 10ms);
  EXPECT_TRUE(patient.poll_train(kStart + 10ms, builder));
}

/// Data that left with the handshake, a tenth of a second before the peer's answer.
class UdtSenderAfterHandshakeData : public UdtSenderTest {
 protected:
  static UdtSender::Settings talkative() {
    auto all = settings(PeerKind::own);
    all.handshake_data = HandshakeData{core::SharedBytes::adopt(numbered_bytes(300)), kStart - 150ms, kStart - 100ms};
    return all;
  }
  UdtSenderAfterHandshakeData() : UdtSenderTest(talkative()) {}
};
INSTANTIATE_TEST_SUITE_P(Own, UdtSenderAfterHandshakeData, testing::Values(PeerKind::own));

TEST_P(UdtSenderAfterHandshakeData, CountsThemAsSent) {
  EXPECT_EQ(sender.sent_offset(), 300U);
  EXPECT_EQ(sender.in_flight_bytes(), 300U);
  write(500);
  const auto all = sent();
  ASSERT_EQ(sequences(all), Numbers{1});
  EXPECT_EQ(all[0].header.timestamp_us, 150'000U) << "by the handshake's clock";
  ack(2, 800);
  EXPECT_TRUE(sender.all_acknowledged());
}

TEST_P(UdtSenderAfterHandshakeData, MeasuresTheRoundTripByTheirAck) {
  Acknowledgement said;
  said.next = kFirstSent + 1;
  said.window_packets = 500;
  said.extended = ExtendedReport{
      .highest = kFirstSent, .received_bytes = 300, .echo_us = 50'000, .delay_us = 5'000, .free_kib = 512};
  sender.on_ack(now, said);
  EXPECT_EQ(sender.rtt().latest(), 95ms);
}

TEST_P(UdtSenderAfterHandshakeData, RetransmitsThemInSilence) {
  const auto all = sent_within(3s);
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0].header.sequence, kFirstSent);
  EXPECT_EQ(all[0].payload, numbered_bytes(300));
}

TEST_P(UdtSenderToPlain, LeavesTheLastPacketOfABurstAByteShort) {
  write(2000);
  const auto all = sent();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].payload.size(), 1000U);
  EXPECT_EQ(all[1].payload.size() + all[2].payload.size(), 1000U);
}

TEST_P(UdtSenderToPlain, PresumesThatPacketsWithoutNakHaveArrived) {
  write(10'500);
  sent();
  now += 10ms;
  nak(3, 4);
  EXPECT_EQ(sender.in_flight_bytes(), 10'500U - 5000);
}

// At a SHUTDOWN libudt discards data that only a light ACK has acknowledged.
TEST_P(UdtSenderToPlain, TakesNoLightAckForAFullOne) {
  write(3500);
  sent();
  now += 10ms;
  Acknowledgement light;
  light.next = kFirstSent + 4;
  sender.on_ack(now, light);
  EXPECT_EQ(sender.acknowledged_offset(), 3500U);
  EXPECT_EQ(sender.fully_acknowledged_offset(), 0U);
  ack(4, 3500);
  EXPECT_TRUE(sender.all_acknowledged());
}

/// A burst of 300 packets of which no NAK has come, and perhaps one of a later packet.
class UdtSenderOfALostBurst : public UdtSenderToPlain {
 protected:
  static constexpr std::uint32_t kGap = 100, kGapEnd = 400, kLater = 420, kEnd = 450;
  void SetUp() override {
    write(std::size_t{kEnd} * kSentPayload);
    for (const std::uint32_t number : sequences(sent()))
      if (number < kGap || number >= kGapEnd) arrived_.insert(number);
    now += 10ms;
  }
  void lose(std::uint32_t number) { arrived_.erase(number); }
  enum class Answers { each, a_single_one_with_the_next };
  /// returns   how long it takes until all has arrived
  Duration repair(Answers answers = Answers::each) {
    const TimePoint begin = now;
    bool withheld = false;
    for (PacketIndex next = kGap; next < kEnd && now - begin < 60s;) {
      while (arrived_.contains(static_cast<std::uint32_t>(next))) ++next;
      if (!withheld) ack(next, 0);
      const Numbers came = sequences(sent_within(10ms));
      arrived_.insert(came.begin(), came.end());
      if (answers == Answers::a_single_one_with_the_next && !came.empty()) withheld = came.size() == 1 && !withheld;
    }
    return now - begin;
  }

 private:
  std::set<std::uint32_t> arrived_;
};
INSTANTIATE_TEST_SUITE_P(Plain, UdtSenderOfALostBurst, testing::Values(PeerKind::plain));

TEST_P(UdtSenderOfALostBurst, RetransmitsItInAFewRoundTripsOnceANakNamesALaterPacket) {
  lose(kLater);
  nak(kLater, kLater);
  EXPECT_LT(repair(), 1s);
}

TEST_P(UdtSenderOfALostBurst, RetransmitsItInAFewRoundTripsWithoutANak) { EXPECT_LT(repair(), 2s); }

// libudt looks at its timer when a packet comes.
TEST_P(UdtSenderOfALostBurst, RetransmitsItInAFewRoundTripsThoughAPacketIsAcknowledgedWithTheNext) {
  EXPECT_LT(repair(Answers::a_single_one_with_the_next), 2s);
}

// The ACK has waited for libudt's timer: it gives a longer round trip than the path's.
TEST_P(UdtSenderToPlain, TakesANakThatIsSoonerThanTheFirstAck) {
  write(10'500);
  sent();
  now += 28ms;
  ack(11, 10'500);
  write(10'500);
  sent();
  now += 20ms;
  nak(13, 13);
  EXPECT_EQ(sequences(sent()), (Numbers{13}));
}

TEST_P(UdtSenderToPlain, WaitsNoLongerForAFullAckThanForALightOne) {
  write(3500);
  sent();
  const TimePoint sent_at = now;
  now += 10ms;
  Acknowledgement light;
  light.next = kFirstSent + 4;
  sender.on_ack(now, light);
  EXPECT_GE(sender.unanswered_since().value_or(TimePoint::max()), sent_at);
  EXPECT_LE(sender.unanswered_since().value_or(TimePoint::max()), now);
  ack(4, 3500);
  EXPECT_FALSE(sender.unanswered_since());
}

// libudt's NAK leaves with the packet behind the gap; its ACKs wait for the retransmission.
TEST_P(UdtSenderToPlain, MeasuresTheRoundTripByANak) {
  write(10'500);
  sent();
  now += 10ms;
  nak(3, 4);
  EXPECT_EQ(sender.rtt().latest(), 10ms);
}

TEST_P(UdtSenderToOurs, KnowsTheBytesThatHaveArrivedBehindAGap) {
  write(10'500);
  sent();
  now += 10ms;
  ack(3, 8500);
  EXPECT_EQ(sender.in_flight_bytes(), 2000U);
}

TEST_P(UdtSenderToOurs, SendsARetransmissionTwiceOnceOneWasLost) {
  write(5000);
  sent();
  now += 10ms;
  ack(1, 1000, 10);
  write(20'000);  // more than the flow window: data always follow
  sent();
  now += 10ms;
  nak(3, 3);
  EXPECT_EQ(sequences(sent()), Numbers{3});
  now += 15ms;
  nak(3, 3);
  EXPECT_EQ(sequences(next_train()), Numbers{3});
  EXPECT_EQ(sequences(next_train()), Numbers{3}) << "in a train behind it, which one burst does not lose with it";
  EXPECT_TRUE(sent().empty());
}

TEST_P(UdtSenderToOurs, SendsAPacketAgainInFragmentsWhereTheMtuHasShrunk) {
  write(2500);
  sent();
  sender.set_payload_bytes(400);
  now += 1s;
  nak(1, 1);
  const auto pieces = sent();
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[0].header.message, 1000U << 16);
  EXPECT_EQ(pieces[2].header.message, 1000U << 16 | 800);
  EXPECT_EQ(pieces[2].payload, numbered_bytes(200, 1800));
}

TEST_P(UdtSenderToOurs, BeginsEachPacketInFragmentsAtItsFront) {
  write(500);
  sent();
  write(2000);
  sent();
  sender.set_payload_bytes(400);
  now += 1s;
  nak(1, 1);
  EXPECT_EQ(next_train()[0].header.message, 1000U << 16);
  EXPECT_EQ(next_train()[0].header.message, 1000U << 16 | 400);
  nak(0, 0);
  EXPECT_EQ(next_train()[0].header.message, 500U << 16) << "not where the other one stood";
  const auto rest = sent();
  ASSERT_FALSE(rest.empty());
  EXPECT_EQ(rest[0].payload, numbered_bytes(100, 400));
  EXPECT_EQ(sequences(rest).back(), 1U);
}

TEST_P(UdtSenderToOurs, ProbesAFlowWindowOfLessThanAPacket) {
  sender.set_payload_bytes(1400);
  write(1500);
  sent();
  now += 10ms;
  ack(2, 1500, 500, 1);
  write(5000);
  EXPECT_TRUE(sent().empty());
  EXPECT_FALSE(sent_within(1s).empty()) << "the word of a larger one may have been lost";
}

TEST_P(UdtSenderTest, TakesAPacketForLostOnceForOneNak) {
  write(10'500);
  sent();
  now += 1s;
  const std::vector<SequenceRange> list{{kFirstSent + 5, kFirstSent + 6}, {kFirstSent + 3, kFirstSent + 3}};
  sender.on_nak(now, list);
  EXPECT_EQ(sender.stats().packets_lost, 2U) << "a list ascends";
}

TEST_P(UdtSenderToOurs, HasNoMoreAheadThanItsFirstWindowBeforeARoundTripIsMeasured) {
  auto how = settings(PeerKind::own);
  how.congestion = CongestionKind::bbr;
  const UdtSender fresh(how);
  EXPECT_LE(fresh.ahead_bytes(), 32 * kSentPayload);
}

TEST_P(UdtSenderTest, PacesAtTheSmallestRate) {
  auto slow = settings(GetParam());
  slow.rate_cap = BitRate::from_bits_per_second(1);
  UdtSender snail(slow);
  snail.write(core::SharedBytes::adopt(numbered_bytes(100'000)));
  TrainBuilder builder(64, 65'000);
  EXPECT_TRUE(snail.poll_train(kStart, builder));
  EXPECT_LE(builder.train().datagrams(), 2U);
  builder.clear();
  EXPECT_FALSE(snail.poll_train(kStart + 1s, builder));
}

TEST_P(UdtSenderToPlain, BelievesNoExtensionOfAnAck) {
  write(10'500);
  sent();
  now += 10ms;
  Acknowledgement said;
  said.next = kFirstSent + 1;
  said.window_packets = 500;
  said.extended = ExtendedReport{.highest = kFirstSent + 10, .received_bytes = 10'500, .free_kib = 0};
  sender.on_ack(now, said);
  EXPECT_EQ(sender.in_flight_bytes(), 9500U);
  write(1500);
  EXPECT_EQ(sequences(sent()), (Numbers{11, 12})) << "the window is the one of plain UDT4";
}

TEST_P(UdtSenderToPlain, IgnoresAnInvertedRangeOfANak) {
  write(10'500);
  sent();
  now += 10ms;
  nak(9, 5);
  EXPECT_EQ(sender.in_flight_bytes(), 10'500U);
}

}  // namespace
}  // namespace udtcat::transport::native
