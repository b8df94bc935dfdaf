// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/udt_receiver.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "lib/transport/native/acknowledgement.hpp"
#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kFirstReceived = 0x7fff'fff0;
constexpr std::size_t kReceivedPayload = 1000;

/// A receiver of data packets, and its ACKs and NAKs.
class UdtReceiverTest : public testing::TestWithParam<PeerKind> {
 protected:
  void data(PacketIndex index, std::size_t bytes = kReceivedPayload, std::uint32_t message = 0) {
    const auto payload = numbered_bytes(bytes, index * kReceivedPayload);
    receiver.on_data(now, {sequences.on_wire(index), message, 77, 1}, {payload, {}});
  }
  std::vector<ControlMessage> said() {
    std::vector<ControlMessage> all;
    while (auto message = receiver.poll_control(now)) all.push_back(std::move(*message));
    return all;
  }
  /// Lets time pass, and answers each ACK that has a number.
  std::vector<ControlMessage> said_within(Duration time) {
    std::vector<ControlMessage> all = said();
    for (const TimePoint end = now + time; now < end;) {
      now = std::clamp(receiver.deadline().value_or(end), now + 1us, end);
      for (auto& message : said()) {
        if (message.additional != 0 && confirms) receiver.on_ack2(now, message.additional);
        all.push_back(std::move(message));
      }
    }
    return all;
  }
  static std::size_t count(const std::vector<ControlMessage>& all, ControlType type) {
    return static_cast<std::size_t>(std::ranges::count(all, type, &ControlMessage::type));
  }
  std::optional<PacketIndex> acked_by(const ControlMessage& message) {
    return sequences.index_of(decode_acknowledgement(body_of(message.words))->next, 100);
  }
  std::size_t read(std::size_t most) {
    std::vector<std::byte> into(most);
    return receiver.read(now, into);
  }

  core::ChunkPool chunks{65'536};
  TimePoint now = kStart;
  bool confirms = true;
  SequenceSpace sequences{kFirstReceived};
  UdtReceiver receiver{{GetParam(), kFirstReceived, kReceivedPayload, 1 << 20}, chunks};
};

INSTANTIATE_TEST_SUITE_P(OfEitherKind, UdtReceiverTest, testing::Values(PeerKind::own, PeerKind::plain),
                         [](const auto& each) { return each.param == PeerKind::own ? "Own" : "Plain"; });
using UdtReceiverFromOurs = UdtReceiverTest;
INSTANTIATE_TEST_SUITE_P(Own, UdtReceiverFromOurs, testing::Values(PeerKind::own));
using UdtReceiverFromPlain = UdtReceiverTest;
INSTANTIATE_TEST_SUITE_P(Plain, UdtReceiverFromPlain, testing::Values(PeerKind::plain));

TEST_P(UdtReceiverTest, SendsNothingBeforeTheFirstPacket) {
  EXPECT_TRUE(said().empty());
  EXPECT_FALSE(receiver.deadline());
}

TEST_P(UdtReceiverTest, AcknowledgesWithinTenMilliseconds) {
  for (PacketIndex i = 0; i < 20; ++i) data(i);
  const auto all = said_within(10ms);
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.back().type, ControlType::ack);
  EXPECT_EQ(acked_by(all.back()), 20U) << "across the end of the sequence numbers";
}

TEST_P(UdtReceiverTest, SendsANakForAnOldGapAndRepeatsIt) {
  data(0);
  data(5);
  const bool own = GetParam() == PeerKind::own;  // a plain peer gets a NAK nearly at once, as its rate depends on it
  EXPECT_EQ(count(said_within(own ? 12ms : 499us), ControlType::nak), 0U);
  const auto all = said_within(1ms);
  ASSERT_EQ(count(all, ControlType::nak), 1U);
  const auto nak = *std::ranges::find(all, ControlType::nak, &ControlMessage::type);
  EXPECT_EQ(nak.words, (std::vector<std::uint32_t>{sequences.on_wire(1) | 0x80000000, sequences.on_wire(4)}));
  EXPECT_GE(count(said_within(2s), ControlType::nak), 1U);
}

TEST_P(UdtReceiverTest, RepeatsANakThricePromptlyToOurOwnAndSeldomToAPlainPeer) {
  for (PacketIndex i = 0; i < 10; ++i) {
    data(i);
    said_within(20ms);
    now += 20ms;
  }
  data(12);
  std::vector<Duration> gaps;
  for (TimePoint last{}; gaps.size() < 6;) {
    const auto due = receiver.deadline();
    ASSERT_TRUE(due);
    now = std::max(now, *due);
    for (const auto& message : said()) {
      if (message.type != ControlType::nak) continue;
      if (last != TimePoint{}) gaps.push_back(now - last);
      last = now;
    }
  }
  const Duration least = GetParam() == PeerKind::own ? 10ms : 100ms;
  const std::size_t prompts = GetParam() == PeerKind::own ? 3 : 0;
  const Duration prompt = std::max<Duration>(receiver.rtt().smoothed() + receiver.rtt().smoothed() / 8, least);
  for (std::size_t i = 0; i < prompts; ++i) EXPECT_LT(gaps[i], prompt + 1ms) << i;
  EXPECT_GE(gaps[prompts], std::max(least, receiver.rtt().timeout()));
  EXPECT_GE(gaps[prompts + 1], 2 * gaps[prompts] - 1ms);
}

/// Proves: udt4.gaps-at-once
TEST_P(UdtReceiverFromPlain, AcknowledgesAFilledGapAtOnce) {
  data(0);
  said_within(100ms);
  data(2);
  said_within(100ms);
  data(1);
  const auto all = said_within(1ms);
  ASSERT_EQ(count(all, ControlType::ack), 1U) << "its rate stands still until then";
  EXPECT_EQ(acked_by(*std::ranges::find(all, ControlType::ack, &ControlMessage::type)), 3U);
}

TEST_P(UdtReceiverTest, SendsNoNakForALatePacket) {
  data(1);
  data(0);
  EXPECT_EQ(count(said_within(2s), ControlType::nak), 0U);
}

TEST_P(UdtReceiverTest, SendsNothingMoreOnceAllIsAcknowledged) {
  for (PacketIndex i = 0; i < 20; ++i) data(i);
  said_within(100ms);
  EXPECT_TRUE(said_within(10s).empty());
  EXPECT_FALSE(receiver.deadline());
}

TEST_P(UdtReceiverFromOurs, AcknowledgesADuplicateAgain) {
  data(0);
  said_within(100ms);
  confirms = false;
  data(0);
  EXPECT_EQ(count(said_within(2ms), ControlType::ack), 1U);
}

TEST_P(UdtReceiverTest, IgnoresSequenceNumbersBeforeTheFirstOrFarAhead) {
  receiver.on_data(now, {kFirstReceived - 1, 0, 0, 1}, {});
  data(kMaxWindowPackets + 10);
  EXPECT_TRUE(said_within(1s).empty());
  EXPECT_TRUE(receiver.has_no_gap());
}

TEST_P(UdtReceiverTest, IgnoresPacketsBeyondEveryAnnouncedWindow) {
  data(2 * (512 * 1024) / kReceivedPayload);
  EXPECT_TRUE(receiver.has_no_gap());
  data(512 * 1024 / kReceivedPayload);
  EXPECT_FALSE(receiver.has_no_gap());
}

TEST_P(UdtReceiverTest, IgnoresARoundTripOfAnHour) {
  data(0, 10);
  now += 10ms;
  const auto all = said();
  ASSERT_EQ(all.size(), 1U);
  receiver.on_ack2(now + 1h, all[0].additional);
  data(1, 10);
  now += 20ms;
  EXPECT_EQ(decode_acknowledgement(body_of(said()[0].words))->rtt_us, 100'000U);
}

TEST_P(UdtReceiverTest, MeasuresTheRoundTripByAck2) {
  data(0, 10);
  now += 10ms;
  const auto all = said();
  ASSERT_EQ(all.size(), 1U);
  ASSERT_NE(all[0].additional, 0U);
  now += 40ms;
  receiver.on_ack2(now, all[0].additional);
  receiver.on_ack2(now + 1h, all[0].additional);
  data(1, 10);
  now += 20ms;
  EXPECT_EQ(decode_acknowledgement(body_of(said()[0].words))->rtt_us, 40'000U);
}

TEST_P(UdtReceiverTest, IgnoresAnAck2OfNoAck) {
  for (const std::uint32_t number : {0U, 1U, 77U, 0xffffffffU}) receiver.on_ack2(now, number);
  data(0);
  now += 10ms;
  EXPECT_EQ(decode_acknowledgement(body_of(said()[0].words))->rtt_us, 100'000U);
}

TEST_P(UdtReceiverFromOurs, AnnouncesItsWholeBufferToAnAuthenticatedPeer) {
  data(0);
  const auto before = decode_acknowledgement(body_of(said()[0].words))->extended->free_kib;
  receiver.trust_peer(now);
  const auto all = said();
  ASSERT_EQ(count(all, ControlType::ack), 1U);
  EXPECT_GT(decode_acknowledgement(body_of(all[0].words))->extended->free_kib, before);
}

TEST_P(UdtReceiverTest, AnnouncesRoomThatWasFreed) {
  for (PacketIndex i = 0; i < 524; ++i) data(i);  // as many as the buffer takes
  said_within(1s);
  while (read(100'000) > 0) {
  }
  const auto all = said();
  ASSERT_EQ(count(all, ControlType::ack), 1U);
  EXPECT_GT(decode_acknowledgement(body_of(all[0].words))->window_packets, 400U);
}

/// Proves: udt4.least-window
TEST_P(UdtReceiverFromPlain, AnnouncesTwoPacketsAtLeastThoughItsBufferIsFull) {
  std::uint32_t least = UINT32_MAX;
  for (PacketIndex i = 0; i < 2000; ++i) {
    data(i);
    now += 1ms;
    for (const ControlMessage& message : said()) {
      if (message.type != ControlType::ack) continue;
      const auto ack = decode_acknowledgement(body_of(message.words));
      if (ack && ack->window_packets) least = std::min(least, *ack->window_packets);
    }
  }
  EXPECT_GE(least, 2U);
  EXPECT_LT(least, 16U) << "so that the sender knows a reader that takes nothing";
}

TEST_P(UdtReceiverFromPlain, AcknowledgesTheLastPacketHoweverLargePacketsMayBe) {
  UdtReceiver jumbo({PeerKind::plain, kFirstReceived, 65'476, 1 << 20}, chunks);
  const std::vector<std::byte> payload(65'476);
  for (PacketIndex i = 0; i < 3; ++i) {
    jumbo.on_data(now, {sequences.on_wire(i), 0, 77, 1}, {payload, {}});
    std::vector<std::byte> into(payload.size());
    EXPECT_EQ(jumbo.read(now, into), payload.size());
  }
  now += 1s;
  const auto ack = jumbo.poll_control(now);
  ASSERT_TRUE(ack);
  EXPECT_EQ(acked_by(*ack), 3U);
}

TEST_P(UdtReceiverFromPlain, RepeatsAnAckUntilAck2) {
  confirms = false;
  data(0);
  EXPECT_GE(count(said_within(2s), ControlType::ack), 4U);
  confirms = true;
  said_within(1s);
  EXPECT_TRUE(said_within(10s).empty());
}

TEST_P(UdtReceiverFromPlain, SendsALightAckEverySixtyFourPackets) {
  for (PacketIndex i = 0; i < 64; ++i) data(i);
  const auto all = said();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0].words, light_words(sequences.on_wire(64)));
  EXPECT_EQ(all[0].additional, 0U);
}

TEST_P(UdtReceiverFromPlain, AcknowledgesAShortPacketAtOnce) {
  data(0, 10);
  EXPECT_EQ(count(said(), ControlType::ack), 1U);
}

TEST_P(UdtReceiverFromPlain, DoesNotTakeItsMessageWordForAFragment) {
  data(0, 10, 0xc0000001);
  EXPECT_EQ(receiver.readable_bytes(), 10U);
}

TEST_P(UdtReceiverFromOurs, ReportsWhatHasArrived) {
  data(0);
  data(3);
  receiver.on_host_overloads(9);
  now += 10ms;
  const auto ack = decode_acknowledgement(body_of(said()[0].words));
  ASSERT_TRUE(ack->extended);
  EXPECT_EQ(ack->extended->highest, sequences.on_wire(3));
  EXPECT_EQ(ack->extended->received_bytes, 2000U);
  EXPECT_EQ(ack->extended->echo_us, 77U);
  EXPECT_EQ(ack->extended->delay_us, 10'000U);
  EXPECT_LE(ack->extended->free_kib, (512U * 1024 - 1000) / 1024);
  EXPECT_GE(ack->extended->free_kib, 490U);
  EXPECT_EQ(ack->extended->host_overloads, 9U);
}

/// Proves: udt4.ack-bytes
TEST_P(UdtReceiverFromOurs, AcknowledgesEvery128KiBAtOnce) {
  for (PacketIndex i = 0; i < 2000; ++i) {
    data(i);
    read(kReceivedPayload);
  }
  said();
  for (PacketIndex i = 2000; i < 2131; ++i) data(i);
  EXPECT_EQ(count(said(), ControlType::ack), 0U);
  for (PacketIndex i = 2131; i < 2140; ++i) data(i);
  EXPECT_EQ(count(said(), ControlType::ack), 1U);
}

TEST_P(UdtReceiverFromOurs, AcknowledgesTheFirstPacketsAtOnce) {
  data(0);
  EXPECT_EQ(count(said(), ControlType::ack), 1U) << "the sender grows by what it hears";
  for (PacketIndex i = 1; i < 16; ++i) data(i);
  EXPECT_EQ(count(said(), ControlType::ack), 1U);
  data(16);
  EXPECT_EQ(count(said(), ControlType::ack), 0U) << "less than an eighth";
}

TEST_P(UdtReceiverFromOurs, LetsSmallPacketsFillItsBufferThoughLargeOnesWereAgreed) {
  UdtReceiver jumbo{{PeerKind::own, kFirstReceived, 8956, 1 << 20}, chunks};
  jumbo.on_data(now, {kFirstReceived, 0, 0, 1}, {numbered_bytes(1), {}});
  const auto ack = decode_acknowledgement(body_of(jumbo.poll_control(now + 10ms)->words));
  EXPECT_GE(*ack->window_packets * 1216, 500'000U);
}

TEST_P(UdtReceiverFromOurs, ReassemblesFragments) {
  data(0, 600, 1000 << 16);
  EXPECT_EQ(receiver.readable_bytes(), 0U);
  const auto rest = numbered_bytes(400, 600);
  receiver.on_data(now, {kFirstReceived, 1000 << 16 | 600, 0, 1}, {rest, {}});
  std::vector<std::byte> into(1000);
  EXPECT_EQ(receiver.read(now, into), 1000U);
  EXPECT_EQ(into, numbered_bytes(1000));
}

}  // namespace
}  // namespace udtcat::transport::native
