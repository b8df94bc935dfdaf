// SPDX-License-Identifier: Apache-2.0
/// src/lib/transport/native: how soon a packet is sent again whose retransmission is lost.

#include <algorithm>
#include <map>
#include <random>
#include <span>
#include <utility>

#include <gtest/gtest.h>

#include "lib/transport/native/packet.hpp"
#include "lib/transport/native/parts.hpp"
#include "lib/transport/native/simulated_path.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;
using enum SimulatedPath::End;

constexpr Duration kRoundTrip = 40ms;

PathSettings path_of_forty_milliseconds() {
  return {.rate = BitRate::from_bits_per_second(100'000'000), .delay = kRoundTrip / 2, .queue_bytes = 500'000};
}

/// With it no queue grows.
TransportOptions half_of_the_rate() {
  TransportOptions options;
  options.rate = BitRate::from_bits_per_second(50'000'000);
  return options;
}

/// Loses packets by chance, their retransmissions more often, and notes when each leaves.
class LosingRetransmissions : public testing::Test {
 protected:
  struct Attempts {
    TimePoint first{};
    TimePoint last{};
    unsigned lost = 0;
    bool arrived = false;
    bool named = false;  // by a NAK
  };

  void SetUp() override {
    path.set_filter([this](SimulatedPath::End sender, std::span<std::byte> datagram) {
      if (sender == kFar && repeats_are_lost && is_nak(datagram)) return names_new(datagram);
      if (sender == kFar || is_control(datagram)) return true;
      return passes(decode_data_header(datagram).sequence);
    });
  }
  /// Of a packet that was lost more than once, from one attempt to the next that was needed, in round trips.
  [[nodiscard]] double longest_wait() const {
    double longest = 0;
    for (const auto& [sequence, attempts] : packets_) {
      if (attempts.lost < 2 || !attempts.arrived) continue;
      const double trips = std::chrono::duration<double>(attempts.last - attempts.first) / kRoundTrip;
      longest = std::max(longest, trips / attempts.lost);
    }
    return longest;
  }
  [[nodiscard]] std::size_t lost_again() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(packets_, [](const auto& each) { return each.second.lost > 1 && each.second.arrived; }));
  }

  SimulatedPath path{path_of_forty_milliseconds(), PeerKind::own, half_of_the_rate()};
  double lost = 0;
  double lost_again_share = 0;
  bool repeats_are_lost = false;  // of NAKs
  unsigned needless = 0;          // copies of what had arrived

 private:
  static bool is_nak(std::span<const std::byte> datagram) {
    return is_control(datagram) && decode_control_header(datagram).type == ControlType::nak;
  }
  bool names_new(std::span<const std::byte> nak) {
    const auto list = decode_loss_list(nak.subspan(kHeaderBytes));
    return std::ranges::all_of(list,
                               [this](const auto& range) { return !std::exchange(packets_[range.last].named, true); });
  }
  bool survives(double loss) { return std::uniform_real_distribution<>(0, 1)(random_) >= loss; }
  bool passes(std::uint32_t sequence) {
    Attempts& attempts = packets_[sequence];
    const bool again = attempts.first != TimePoint{};
    if (!again) attempts.first = path.now();
    if (attempts.arrived) return ++needless, true;
    if (again && path.now() - attempts.last < kRoundTrip / 4) return false;  // a copy is lost with its original
    attempts.last = path.now();
    attempts.arrived = survives(again ? lost_again_share : lost);
    if (!attempts.arrived) ++attempts.lost;
    return attempts.arrived;
  }

  std::map<std::uint32_t, Attempts> packets_;
  std::mt19937 random_{4711};
};

TEST_F(LosingRetransmissions, TakesHardlyMoreThanARoundTripForEach) {
  path.write_on(kNear);
  path.run_for(3s);
  lost = 0.01;
  lost_again_share = 0.3;
  path.run_for(10s);
  EXPECT_GT(lost_again(), 100U);
  EXPECT_LT(longest_wait(), 1.6) << "a fifth attempt comes a little later";
}

TEST_F(LosingRetransmissions, TakesLessThanTwoForTheOldestThoughEachRepeatedNakIsLost) {
  path.write_on(kNear);
  path.run_for(3s);
  lost = 0.001;
  lost_again_share = 0.3;
  repeats_are_lost = true;
  path.run_for(20s);
  EXPECT_GT(lost_again(), 10U);
  EXPECT_LT(longest_wait(), 2);
}

TEST_F(LosingRetransmissions, SendsLittleAgainThatHasArrived) {
  path.write_on(kNear);
  path.run_for(3s);
  needless = 0;
  lost = lost_again_share = 0.01;
  path.run_for(10s);
  EXPECT_LE(needless, 20U);
}

}  // namespace
}  // namespace udtcat::transport::native
