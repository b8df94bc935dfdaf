// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/train_probe.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"
#include "lib/transport/native/simulated_path.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;
using enum SimulatedPath::End;

PathSettings path_of(std::uint64_t mbit, Duration delay) {
  return {.rate = BitRate::from_bits_per_second(mbit * 1'000'000), .delay = delay, .queue_bytes = 1 << 20};
}

struct Lossy {
  const char* name;
  std::size_t least_datagrams;
  std::size_t survivors;
  Duration delay;
};

class PathThatLosesTrains : public testing::TestWithParam<Lossy> {};
INSTANTIATE_TEST_SUITE_P(With, PathThatLosesTrains,
                         testing::Values(Lossy{"all", 2, 0, 1ms}, Lossy{"all_on_a_long_path", 2, 0, 50ms},
                                         Lossy{"all_but_the_first", 2, 1, 10ms}, Lossy{"those_of_eight", 8, 0, 10ms}),
                         [](const auto& row) { return row.param.name; });

TEST_P(PathThatLosesTrains, CarriesSingleDatagramsAfterASecondOrTwo) {
  SimulatedPath path(path_of(100, GetParam().delay));
  path.lose_trains(GetParam().least_datagrams, GetParam().survivors);
  path.write_on(kNear);
  path.run_until([&] { return path.at(kNear).trains_off(); }, 10s);
  EXPECT_LT(path.now() - kStart, 2s);
  EXPECT_TRUE(path.at(kNear).trains_off());
  path.run_for(2s);
  EXPECT_GT(path.rate_over(kFar, 2s), 0.8e8);
  EXPECT_TRUE(path.intact());
}

TEST_P(PathThatLosesTrains, IsFoundInMidTransfer) {
  SimulatedPath path(path_of(100, GetParam().delay));
  path.write_on(kNear);
  path.run_for(5100ms);  // at most other moments fewer trains of eight leave than ten pairs in 4 s take
  EXPECT_FALSE(path.at(kNear).trains_off());
  path.lose_trains(GetParam().least_datagrams, GetParam().survivors);
  const TimePoint from = path.now();
  path.run_until([&] { return path.at(kNear).trains_off(); }, 10s);
  EXPECT_LT(path.now() - from, 4s);
  EXPECT_TRUE(path.at(kNear).known_path().loses_trains);
}

struct Fair {
  const char* name;
  PathSettings path;
};

class FairPath : public testing::TestWithParam<Fair> {};
INSTANTIATE_TEST_SUITE_P(
    With, FairPath,
    testing::Values(Fair{"thousandth_lost", {.rate = path_of(100, 0ms).rate, .delay = 10ms, .loss = 0.001}},
                    Fair{"hundredth_lost", {.rate = path_of(100, 0ms).rate, .delay = 10ms, .loss = 0.01}},
                    Fair{"twentieth_lost", {.rate = path_of(100, 0ms).rate, .delay = 10ms, .loss = 0.05}},
                    Fair{"bursts_lost",
                         {.rate = path_of(100, 0ms).rate, .delay = 10ms, .loss = 0.01, .loss_burst = 20}},
                    Fair{"half_lost", {.rate = path_of(20, 0ms).rate, .delay = 5ms, .loss = 0.5}},
                    Fair{"short_queue", {.rate = path_of(100, 0ms).rate, .delay = 10ms, .queue_bytes = 6'000}},
                    Fair{"policer", {.rate = path_of(20, 0ms).rate, .delay = 10ms, .queue_bytes = 1'600}}),
    [](const auto& row) { return row.param.name; });

TEST_P(FairPath, KeepsItsTrains) {
  SimulatedPath path(GetParam().path);
  path.write_on(kNear);
  path.run_for(40s);
  EXPECT_FALSE(path.at(kNear).trains_off());
}

TEST(TrainProbe, IsOffAtOnceForAKnownPath) {
  EXPECT_TRUE(TrainProbe(true, 1).off());
  EXPECT_FALSE(TrainProbe(false, 1).off());
}

/// A flight of trains, each of four packets, of which `is_lost` says which are lost; all of it is acknowledged then.
template <typename IsLost>
void fly(TrainProbe& probe, PacketIndex& next, int trains, IsLost is_lost) {
  const PacketIndex first = next;
  std::vector<bool> singly;
  for (int i = 0; i < trains; ++i, next += 4) {
    singly.push_back(probe.next_singly());
    probe.on_sent(next, 4);
  }
  for (PacketIndex index = first; index < next; ++index)
    if (is_lost(singly[(index - first) / 4])) probe.on_lost(index);
  probe.on_acknowledged(next);
}

/// returns   how many of the next trains, which all arrive, leave singly
int singles_of(TrainProbe& probe, PacketIndex& next, int trains) {
  int singles = 0;
  for (int i = 0; i < trains; ++i) {
    singles += probe.next_singly() ? 1 : 0;
    fly(probe, next, 1, [](bool) { return false; });
  }
  return singles;
}

TEST(TrainProbe, ComparesOnlyOnceTrainsWereLostInARow) {
  TrainProbe probe(false, 7);
  PacketIndex next = 0;
  EXPECT_EQ(singles_of(probe, next, 50), 0);
  EXPECT_FALSE(probe.retransmits_singly());
  fly(probe, next, TrainProbe::kSuspicious, [](bool) { return true; });
  EXPECT_TRUE(probe.retransmits_singly());
  EXPECT_GT(singles_of(probe, next, 50), 0);
}

TEST(TrainProbe, KeepsTrainsWhereFewAreLostInARow) {
  TrainProbe probe(false, 7);
  PacketIndex next = 0;
  fly(probe, next, 1, [](bool) { return false; });
  for (int i = 0; i < 100; ++i) {
    fly(probe, next, TrainProbe::kSuspicious - 1, [](bool) { return true; });
    EXPECT_FALSE(probe.retransmits_singly());
    EXPECT_EQ(singles_of(probe, next, 5), 0);
  }
}

TEST(TrainProbe, ComparesWhereLongTrainsAreLostBetweenShortOnes) {
  TrainProbe probe(false, 7);
  PacketIndex next = 0;
  probe.on_sent(next, 20);
  probe.on_acknowledged(next += 20);
  for (int i = 0; i < 2 * TrainProbe::kSuspicious && !probe.next_singly(); ++i) {
    probe.on_sent(next, 2);
    probe.on_sent(next + 2, 20);
    for (PacketIndex index = next + 2; index < next + 22; ++index) probe.on_lost(index);
    if (i % 2 == 0) probe.on_acknowledged(next + 22);
    next += 22;
  }
  EXPECT_TRUE(probe.next_singly() || singles_of(probe, next, 4) > 0);
}

TEST(TrainProbe, ComparesAtTheFirstLossWhereNoTrainHasArrived) {
  TrainProbe probe(false, 7);
  PacketIndex next = 0;
  fly(probe, next, 1, [](bool) { return true; });
  EXPECT_GT(singles_of(probe, next, 4), 0);
}

TEST(TrainProbe, TurnsTrainsOffWhereTheyAreLostAndBurstsArrive) {
  TrainProbe probe(false, 7);
  PacketIndex next = 0;
  fly(probe, next, 1, [](bool) { return true; });
  for (int i = 0; i < 2 * TrainProbe::kPairs; ++i) {
    EXPECT_FALSE(probe.off());
    fly(probe, next, 1, [](bool singly) { return !singly; });
  }
  EXPECT_TRUE(probe.off());
  EXPECT_TRUE(probe.next_singly());
}

TEST(TrainProbe, IgnoresALostBurstOfSingleDatagrams) {
  for (std::uint32_t seed = 1; seed < 40; seed += 2) {
    TrainProbe probe(false, seed);
    PacketIndex next = 0;
    fly(probe, next, 1, [](bool) { return false; });
    fly(probe, next, TrainProbe::kSuspicious, [](bool) { return true; });
    while (probe.retransmits_singly()) fly(probe, next, 1, [](bool singly) { return singly; });
    fly(probe, next, TrainProbe::kSuspicious - 1, [](bool) { return true; });
    EXPECT_EQ(singles_of(probe, next, 20), 0) << seed;
  }
}

TEST(TrainProbe, KeepsTrainsWhereBurstsAreLostAsWell) {
  TrainProbe probe(false, 7);
  PacketIndex next = 0;
  fly(probe, next, 100, [](bool) { return true; });
  EXPECT_FALSE(probe.off());
  fly(probe, next, 100, [](bool) { return false; });
  EXPECT_FALSE(probe.retransmits_singly());
}

TEST(TrainProbe, WatchesABoundedNumber) {
  TrainProbe probe(false, 7);
  PacketIndex next = 0;
  fly(probe, next, 100'000, [](bool) { return true; });
  EXPECT_FALSE(probe.off());
}

}  // namespace
}  // namespace udtcat::transport::native
