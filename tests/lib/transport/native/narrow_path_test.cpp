// SPDX-License-Identifier: Apache-2.0
/// src/lib/transport/native: paths with an MTU below 1500 bytes, from the start or later, in both directions.

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"
#include "lib/transport/native/simulated_path.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;
using enum SimulatedPath::End;

constexpr std::uint64_t kMegabyteBytes = 1'000'000;

PathSettings narrow_path(std::size_t mtu, Duration delay = 10ms) {
  return {.rate = BitRate::from_bits_per_second(100'000'000), .delay = delay, .mtu = mtu};
}

class NarrowPath : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Of, NarrowPath, testing::Values(576, 1000, 1200, 1279),
                         [](const auto& row) { return std::to_string(row.param); });

TEST_P(NarrowPath, CarriesEverythingFromTheStart) {
  SimulatedPath path(narrow_path(GetParam()));
  path.write(kNear, 3 * kMegabyteBytes);
  path.write(kFar, 3 * kMegabyteBytes);
  EXPECT_TRUE(path.run_until(
      [&] { return path.read_bytes(kFar) == 3 * kMegabyteBytes && path.read_bytes(kNear) == 3 * kMegabyteBytes; }, 3s))
      << path.read_bytes(kFar) << " " << path.read_bytes(kNear);
  EXPECT_TRUE(path.intact());
}

TEST_P(NarrowPath, IsFoundInMidTransferWithinTwoSeconds) {
  SimulatedPath path(narrow_path(1500, 40ms));
  path.write_on(kNear);
  path.write_on(kFar);
  path.run_for(2s);
  path.set_path(narrow_path(GetParam(), 40ms));
  path.run_for(2s);
  EXPECT_GT(path.rate_over(kFar, 2s), 0.6e8);
  EXPECT_GT(path.rate_over(kNear, 2s), 0.6e8);
  EXPECT_TRUE(path.intact());
}

TEST_P(NarrowPath, IsUsedInFullAMinuteAfterItHasWidened) {
  SimulatedPath path(narrow_path(GetParam()));
  path.write_on(kNear);
  path.run_for(3s);
  path.set_path(narrow_path(1500));
  path.run_for(62s);
  EXPECT_EQ(path.at(kNear).packet_bytes(), 1500U);
}

TEST_P(NarrowPath, IsKnownToTheNextConnection) {
  SimulatedPath path(narrow_path(GetParam()));
  path.write(kNear, kMegabyteBytes);
  path.run_for(3s);
  const KnownPath known = path.at(kNear).known_path();
  EXPECT_GE(known.packet_bytes, 576U);
  EXPECT_LE(known.packet_bytes, GetParam());
}

TEST(NarrowingPath, GoesOnAtEachStepDown) {
  SimulatedPath path(narrow_path(1500));
  path.write_on(kNear);
  path.write_on(kFar);
  for (const std::size_t mtu : {1400UL, 1000UL, 576UL}) {
    path.run_for(2s);
    path.set_path(narrow_path(mtu));
    path.run_for(2s);
    EXPECT_GT(path.rate_over(kFar, 1s), 0.6e8) << mtu;
    EXPECT_GT(path.rate_over(kNear, 1s), 0.6e8) << mtu;
  }
  EXPECT_TRUE(path.intact());
}

TEST(NarrowingPath, IsNotSuspectedInLossOrSilence) {
  auto settings = narrow_path(1500);
  settings.loss = 0.1;
  SimulatedPath path(settings);
  path.write_on(kNear);
  path.run_for(20s);
  path.set_outage(true);
  path.run_for(10s);
  path.set_outage(false);
  path.run_for(1s);
  EXPECT_EQ(path.at(kNear).packet_bytes(), 1500U);
}

TEST(NarrowingPath, IsNamedAsTheCauseWhereNoFullPacketArrives) {
  TransportOptions options;
  options.idle_timeout = 10s;
  SimulatedPath path(narrow_path(500), PeerKind::own, options);
  path.write_on(kNear);
  path.run_for(15s);
  EXPECT_EQ(path.at(kNear).state(), UdtConnection::State::lost);
  EXPECT_EQ(path.at(kNear).black_hole_bytes(), 576U);
}

}  // namespace
}  // namespace udtcat::transport::native
