// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/fallback_path.hpp"

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"
#include "lib/transport/native/simulated_path.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;
using enum SimulatedPath::End;

constexpr BitRate kRate = BitRate::from_bits_per_second(50'000'000);
constexpr Duration kStall = 600ms;  // the silence, a round trip by the relay, and what was lost

/// A direct path, in use, and a relay beside it, of which the near end knows.
class FallbackPathTest : public testing::Test {
 protected:
  void begin(const PathSettings& settings) {
    path.emplace(settings);
    path->add_relay(near_relay, far_relay);
    direct = path->at(kNear).peer_address();
    path->at(kNear).watch_path(path->now(), near_relay);
  }
  [[nodiscard]] bool is_relayed() {
    return path->at(kNear).peer_address() == near_relay && path->at(kFar).peer_address() == far_relay;
  }
  [[nodiscard]] std::uint32_t path_changes() {
    EndStats stats;
    path->at(kNear).add_end_stats(path->now(), stats);
    return static_cast<std::uint32_t>(stats.path_changes);
  }
  /// The longest time within `time` in which `reader` read nothing.
  Duration longest_gap(SimulatedPath::End reader, Duration time) {
    Duration longest{0};
    const TimePoint end = path->now() + time;
    for (TimePoint came = path->now(); path->now() < end;) {
      const std::uint64_t before = path->read_bytes(reader);
      path->run_for(5ms);
      if (path->read_bytes(reader) > before) came = path->now();
      longest = std::max(longest, path->now() - came);
    }
    return longest;
  }

  std::optional<SimulatedPath> path;
  const Endpoint near_relay = endpoint("127.0.0.1", 3001);
  const Endpoint far_relay = endpoint("127.0.0.1", 3002);
  Endpoint direct;
};

struct Cut {
  const char* name;
  bool near_writes;
  bool far_writes;
  std::optional<SimulatedPath::End> only = {};  // the sender whose datagrams do not pass
};

class FallbackWhereTheDirectPathIsCut : public FallbackPathTest, public testing::WithParamInterface<Cut> {};

TEST_P(FallbackWhereTheDirectPathIsCut, CarriesOnWithoutAStall) {
  for (const Duration delay : {1ms, 20ms, 60ms}) {
    begin({.rate = kRate, .delay = delay, .queue_bytes = 500'000});
    if (GetParam().near_writes) path->write_on(kNear);
    if (GetParam().far_writes) path->write_on(kFar);
    path->run_for(3s);
    ASSERT_FALSE(is_relayed());
    for (const auto sender : {kNear, kFar})
      if (GetParam().only.value_or(sender) == sender) path->cut_direct_from(sender, true);
    const auto reader = GetParam().near_writes ? kFar : kNear;
    EXPECT_LE(longest_gap(reader, 3s), kStall + 4 * delay);
    EXPECT_TRUE(is_relayed());
    EXPECT_EQ(path_changes(), 1U);
    EXPECT_TRUE(path->intact());
  }
}

INSTANTIATE_TEST_SUITE_P(Of, FallbackWhereTheDirectPathIsCut,
                         testing::Values(Cut{"BothWays", true, true}, Cut{"NearWrites", true, false},
                                         Cut{"FarWrites", false, true},
                                         Cut{"NearWritesNothingPassesToFar", true, false, kNear},
                                         Cut{"NearWritesNothingPassesToNear", true, false, kFar},
                                         Cut{"FarWritesNothingPassesToFar", false, true, kNear},
                                         Cut{"FarWritesNothingPassesToNear", false, true, kFar}),
                         [](const auto& its) { return its.param.name; });

struct Bad {
  const char* name;
  PathSettings path;
};

class FallbackBesideAPoorPath : public FallbackPathTest, public testing::WithParamInterface<Bad> {};

TEST_P(FallbackBesideAPoorPath, IsNotUsed) {
  for (const auto writer : {kNear, kFar}) {
    begin(GetParam().path);
    path->write_on(writer);
    path->run_for(60s);
    EXPECT_TRUE(path->at(kNear).peer_address() == direct);
    EXPECT_EQ(path_changes(), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, FallbackBesideAPoorPath,
    testing::Values(
        Bad{"TenPercentLost", {.rate = kRate, .delay = 20ms, .loss = 0.1}},
        Bad{"QuarterLost", {.rate = kRate, .delay = 20ms, .loss = 0.25}},
        Bad{"Long", {.rate = kRate, .delay = 400ms, .queue_bytes = 5'000'000}},
        Bad{"LongAndLossy", {.rate = kRate, .delay = 150ms, .loss = 0.05}},
        Bad{"DeepQueue", {.rate = BitRate::from_bits_per_second(5'000'000), .delay = 10ms, .queue_bytes = 2'000'000}},
        Bad{"Slow", {.rate = BitRate::from_bits_per_second(128'000), .delay = 10ms, .queue_bytes = 50'000}}),
    [](const auto& its) { return its.param.name; });

TEST_F(FallbackPathTest, StaysWhereNobodyAnswersThereEither) {
  begin({.rate = kRate, .delay = 20ms});
  path->write_on(kNear);
  path->run_for(1s);
  path->set_outage(true);
  path->run_for(3s);
  EXPECT_TRUE(path->at(kNear).path_is_silent(path->now()));
  EXPECT_TRUE(path->at(kNear).peer_address() == direct);
  path->set_outage(false);
  path->run_for(3s);
  EXPECT_FALSE(path->at(kNear).path_is_silent(path->now()));
  EXPECT_TRUE(path->intact());
}

TEST_F(FallbackPathTest, CostsNothingWhileNothingMoves) {
  begin({.rate = kRate, .delay = 20ms});
  path->run_for(5s);
  const auto before = path->datagrams(kNear);
  path->run_for(60s);
  EXPECT_LE(path->datagrams(kNear) - before, 61U) << "keep-alives";
}

}  // namespace
}  // namespace udtcat::transport::native
