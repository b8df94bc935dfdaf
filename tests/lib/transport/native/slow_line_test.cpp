// SPDX-License-Identifier: Apache-2.0
/// src/lib/transport/native: slow paths, on which the transmission of a packet takes long, and first flights.

#include <set>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "lib/transport/native/packet.hpp"
#include "lib/transport/native/parts.hpp"
#include "lib/transport/native/simulated_path.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;
using enum SimulatedPath::End;

struct Line {
  const char* name;
  std::uint64_t bits_per_second;
  Duration rtt;
  std::size_t queue_bytes;
  std::uint64_t bytes;
  Duration limit;
};

PathSettings path_of(const Line& line) {
  return {.rate = BitRate::from_bits_per_second(line.bits_per_second),
          .delay = line.rtt / 2,
          .queue_bytes = line.queue_bytes};
}

/// The round trip of a handshake: the delay, and two small packets on the wire.
Duration handshake_rtt(const Line& line) {
  constexpr std::int64_t kBits = 216 * 8;
  return line.rtt + Duration(kBits * 1'000'000'000 / static_cast<std::int64_t>(line.bits_per_second));
}

/// Carries a transfer, and counts retransmissions and packets that NAKs name.
class Carrying {
 public:
  explicit Carrying(const Line& line, PeerKind kind = PeerKind::own, bool knows_rtt = true)
      : path(path_of(line), kind, {}, 1000, 1500, knows_rtt ? handshake_rtt(line) : Duration::zero()) {
    path.set_filter([this](SimulatedPath::End sender, std::span<std::byte> datagram) {
      listen(sender, datagram);
      return true;
    });
    const TimePoint began = path.now();
    path.write(kNear, line.bytes);
    done = path.run_until([&] { return path.read_bytes(kFar) == line.bytes; }, 10min);
    took = path.now() - began;
    path.run_for(30s);
  }

  SimulatedPath path;
  bool done = false;
  Duration took{0};
  unsigned again = 0;
  unsigned again_unasked = 0;

 private:
  void listen(SimulatedPath::End sender, std::span<const std::byte> datagram) {
    if (sender == kNear && !is_control(datagram)) {
      const std::uint32_t sequence = decode_data_header(datagram).sequence;
      if (sent_.insert(sequence).second) return;
      ++again;
      if (asked_.erase(sequence) == 0) ++again_unasked;
    }
    if (sender == kFar && is_control(datagram) && decode_control_header(datagram).type == ControlType::nak)
      for (const auto& [first, last] : decode_loss_list(datagram.subspan(kHeaderBytes)))
        for (std::uint32_t sequence = first; sequence <= last; ++sequence) asked_.insert(sequence);
  }

  std::set<std::uint32_t> sent_;
  std::set<std::uint32_t> asked_;
};

class SlowLine : public testing::TestWithParam<Line> {};
INSTANTIATE_TEST_SUITE_P(Of, SlowLine,
                         testing::Values(Line{"IsdnWithADeepQueue", 64'000, 200ms, 128'000, 100'000, 13'600ms},
                                         Line{"Isdn", 64'000, 200ms, 32'000, 100'000, 13'600ms},
                                         Line{"Satellite", 256'000, 500ms, 32'000, 100'000, 3'800ms},
                                         Line{"Radio", 9'600, 200ms, 32'000, 10'000, 9'200ms},
                                         Line{"RadioNearby", 9'600, 20ms, 32'000, 10'000, 9'200ms},
                                         Line{"Megabit", 1'000'000, 100ms, 64'000, 1'000'000, 8'600ms}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST_P(SlowLine, IsSentNothingAgainThatOnlyWaits) {
  const Carrying carrying(GetParam());
  EXPECT_TRUE(carrying.done);
  EXPECT_EQ(carrying.again, 0U);
  EXPECT_LT(carrying.took, GetParam().limit);
}

TEST_P(SlowLine, IsSentTwoPacketsAgainAtMostWhereNoRoundTripIsKnown) {
  const Carrying carrying(GetParam(), PeerKind::own, false);
  EXPECT_TRUE(carrying.done);
  EXPECT_LE(carrying.again, GetParam().bits_per_second < 10'000 ? 2U : 0U)
      << "at 9600 bit/s an answer takes longer than TCP's first timeout, too";
}

TEST(SlowLineWithAShortQueue, IsSentOnlyPacketsAgainThatNaksName) {
  const Carrying carrying({"", 64'000, 200ms, 8'000, 100'000, {}});
  EXPECT_TRUE(carrying.done);
  EXPECT_EQ(carrying.again_unasked, 0U);
  EXPECT_LE(carrying.again, 12U) << "what a first flight of ten packets overflows, little more, and what only waited "
                                    "while the round trip grew from 0.2 to 1.2 s: its NAK is repeated";
  EXPECT_LT(carrying.took, 14'500ms);
}

TEST(SlowLineToAPlainPeer, IsSentNothingAgainThatOnlyWaits) {
  for (const Line& line : {Line{"", 64'000, 200ms, 128'000, 100'000, {}}, Line{"", 9'600, 200ms, 32'000, 10'000, {}},
                           Line{"", 256'000, 500ms, 128'000, 100'000, {}}}) {
    const Carrying carrying(line, PeerKind::plain);
    EXPECT_TRUE(carrying.done);
    EXPECT_EQ(carrying.again, 0U) << line.bits_per_second;
  }
}

TEST(SlowLineThatIsLong, IsSentNoMtuProbes) {
  SimulatedPath path(path_of({"", 64'000, 200ms, 32'000, 0, {}}), PeerKind::own, {}, 1000, 1500, 230ms);
  path.write(kNear, 100'000);
  path.run_for(20s);
  EXPECT_EQ(path.at(kNear).packet_bytes(), 1280U);
  EXPECT_EQ(path.at(kFar).packet_bytes(), 1280U);
}

/// The limits are the times with a first flight of 32 packets; it has ten, and the second has 120.
class FirstFlightOfAConnection : public testing::TestWithParam<Line> {};
INSTANTIATE_TEST_SUITE_P(Of, FirstFlightOfAConnection,
                         testing::Values(Line{"HundredKilobytes", 1'000'000'000, 75ms, 9'375'000, 100'000, 137ms},
                                         Line{"AMegabyte", 1'000'000'000, 75ms, 9'375'000, 1'000'000, 267ms},
                                         Line{"TenMegabytes", 1'000'000'000, 75ms, 9'375'000, 10'000'000, 500ms},
                                         Line{"HundredKilobytesSlower", 100'000'000, 75ms, 937'500, 100'000, 139ms},
                                         Line{"AMegabyteSlower", 100'000'000, 75ms, 937'500, 1'000'000, 280ms},
                                         Line{"HundredKilobytesNearby", 1'000'000'000, 20ms, 2'500'000, 100'000, 38ms},
                                         Line{"AMegabyteNearby", 1'000'000'000, 20ms, 2'500'000, 1'000'000, 89ms}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST_P(FirstFlightOfAConnection, CostsAFastPathNoRoundTrip) {
  const Carrying carrying(GetParam());
  EXPECT_TRUE(carrying.done);
  EXPECT_LT(carrying.took, GetParam().limit);
}

TEST(FirstFlightOnASlowPath, IsTenPackets) {
  SimulatedPath path(path_of({"", 64'000, 200ms, 1'000'000, 0, {}}));
  path.write(kNear, 100'000);
  path.run_for(100ms);
  EXPECT_EQ(path.at(kNear).stats().packets_sent, 10U);
}

}  // namespace
}  // namespace udtcat::transport::native
