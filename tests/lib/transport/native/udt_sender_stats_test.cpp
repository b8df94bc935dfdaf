// SPDX-License-Identifier: Apache-2.0
/// Why nothing leaves a UdtSender, and what it knows of the path.
#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"
#include "lib/transport/native/udt_sender.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

constexpr std::uint32_t kFirstHeld = 1000;
constexpr std::size_t kHeldPayload = 1000;

UdtSender::Settings stalled_settings() {
  return {.peer = PeerKind::own,
          .initial_sequence = kFirstHeld,
          .peer_id = 9,
          .window_packets = 500,
          .payload_bytes = kHeldPayload,
          .memory_bytes = 1 << 20,
          .rate_cap = {},
          .started = kStart};
}

/// A sender, whose peer and clock are the test's.
struct StalledSender {
  explicit StalledSender(const UdtSender::Settings& settings) : sender(settings) {}
  void write(std::size_t bytes) { sender.write(core::SharedBytes::adopt(numbered_bytes(bytes, 0))); }
  void send() {
    do builder.clear();
    while (sender.poll_train(now, builder));
  }
  void pass(Duration time) {
    now += time;
    send();
  }
  void ack(PacketIndex next, std::uint64_t received_bytes, std::uint32_t free_kib) {
    Acknowledgement said;
    said.next = static_cast<std::uint32_t>(kFirstHeld + next);
    said.window_packets = 500;
    said.extended = ExtendedReport{.highest = said.next - 1, .received_bytes = received_bytes, .free_kib = free_kib};
    sender.on_ack(now, said);
    send();
  }
  /// A packet is written, and acknowledged after `rtt`.
  void round_trip(Duration rtt, bool is_lost = false) {
    write(kHeldPayload);
    send();
    pass(rtt);
    const auto sequence = static_cast<std::uint32_t>(kFirstHeld + packets);
    const SequenceRange lost{sequence, sequence};
    if (is_lost) sender.on_nak(now, std::span(&lost, 1));
    send();
    ++packets;
    ack(packets, packets * kHeldPayload, 1024);
  }
  [[nodiscard]] EndStats stats() const {
    EndStats all;
    sender.add_end_stats(now, all);
    return all;
  }
  [[nodiscard]] microseconds stalled(StallReason why) const { return stats().stalled[static_cast<std::size_t>(why)]; }

  TimePoint now = kStart;
  PacketIndex packets = 0;  // acknowledged by round_trip()
  UdtSender sender;
  TrainBuilder builder{64, 65'000};
};

TEST(UdtSendersStall, IsNoneWhereNothingIsWritten) {
  StalledSender held(stalled_settings());
  held.write(500);
  held.send();
  held.pass(1s);
  for (std::size_t i = 0; i < kStallReasons; ++i) EXPECT_EQ(held.stalled(static_cast<StallReason>(i)), 0us) << i;
}

TEST(UdtSendersStall, IsThePathWhileTheCongestionWindowIsFull) {
  StalledSender held(stalled_settings());
  held.write(500'000);
  held.send();
  held.pass(10ms);
  EXPECT_EQ(held.stalled(StallReason::path), 10ms);
}

TEST(UdtSendersStall, IsTheCapWhereThatIsLessThanThePathsRate) {
  UdtSender::Settings settings = stalled_settings();
  settings.congestion = CongestionKind::fixed;
  settings.rate_cap = BitRate::from_bits_per_second(8'000'000);
  StalledSender held(settings);
  held.write(500'000);
  held.send();
  for (int i = 0; i < 100; ++i) held.pass(1ms);
  EXPECT_GT(held.stalled(StallReason::rate_cap), 90ms);
  EXPECT_EQ(held.stalled(StallReason::path), 0us);
}

TEST(UdtSendersStall, IsMemoryWhereSoMuchIsNotAcknowledged) {
  UdtSender::Settings settings = stalled_settings();
  settings.congestion = CongestionKind::fixed;
  settings.rate_cap = BitRate::from_bits_per_second(8'000'000'000);
  settings.memory_bytes = 10 * kHeldPayload;
  StalledSender held(settings);
  held.write(500'000);
  held.send();
  held.pass(1ms);
  held.pass(20ms);
  EXPECT_GE(held.stalled(StallReason::memory), 20ms);
  EXPECT_EQ(held.stalled(StallReason::peer_window), 0us);
}

TEST(UdtSendersStall, IsThePeersWindowWhereThatIsFull) {
  UdtSender::Settings settings = stalled_settings();
  settings.congestion = CongestionKind::fixed;
  settings.rate_cap = BitRate::from_bits_per_second(8'000'000'000);
  StalledSender held(settings);
  held.write(1000);
  held.send();
  held.now += 1ms;
  held.ack(1, 1000, 0);
  held.write(500'000);
  held.send();
  held.pass(20ms);
  EXPECT_GE(held.stalled(StallReason::peer_window), 20ms);
  EXPECT_EQ(held.stalled(StallReason::memory), 0us);
}

TEST(UdtSendersStats, HasNoRoundTripAndNoRateBeforeTheyAreMeasured) {
  StalledSender held(stalled_settings());
  held.write(500);
  held.send();
  EndStats stats;
  held.sender.add_end_stats(held.now, stats);
  EXPECT_FALSE(stats.least_rtt);
  EXPECT_EQ(stats.rtt_samples, 0U);
  EXPECT_EQ(stats.path_rate, BitRate());
  EXPECT_EQ(stats.packets_sent, 1U);
  EXPECT_EQ(stats.memory_bytes, 1U << 20);
}

TEST(UdtSendersStats, CountsChangesOfPath) {
  StalledSender held(stalled_settings());
  held.round_trip(20ms);
  EXPECT_EQ(held.stats().path_changes, 0U);
  held.sender.on_new_path(held.now);
  EXPECT_EQ(held.stats().path_changes, 1U);
  EXPECT_EQ(held.stats().packets_sent, 1U) << "a sum all the same";
}

TEST(UdtSendersStats, CountsLossWithAQueueApart) {
  StalledSender held(stalled_settings());
  held.round_trip(20ms);
  held.round_trip(20ms, true);
  EXPECT_EQ(held.stats().packets_lost, 1U);
  EXPECT_EQ(held.stats().queued_lost, 0U);
  for (int i = 0; i < 20; ++i) held.round_trip(80ms);
  held.round_trip(80ms, true);
  EXPECT_EQ(held.stats().packets_lost, 2U);
  EXPECT_EQ(held.stats().queued_lost, 1U);
}

}  // namespace
}  // namespace udtcat::transport::native
