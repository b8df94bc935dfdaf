// SPDX-License-Identifier: Apache-2.0
/// src/lib/transport/native: try_path(): the connection moves to another address of its peer.

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"
#include "lib/transport/native/simulated_path.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;
using enum SimulatedPath::End;

/// Two ends with endless data for each other, and a relay beside the direct path.
class MovingToARelay : public testing::Test {
 protected:
  MovingToARelay() {
    path.add_relay(near_relay, far_relay);
    path.write_on(kNear);
    path.write_on(kFar);
    path.run_for(1s);
  }
  void expect_at(const Endpoint& fars, const Endpoint& nears) {
    EXPECT_TRUE(path.at(kNear).peer_address() == fars) << path.at(kNear).peer_address().to_string();
    EXPECT_TRUE(path.at(kFar).peer_address() == nears) << path.at(kFar).peer_address().to_string();
    EXPECT_GT(path.rate_over(kNear, 1s), 0.5e8);
    EXPECT_GT(path.rate_over(kFar, 1s), 0.5e8);
    EXPECT_TRUE(path.intact());
  }

  SimulatedPath path{{.rate = BitRate::from_bits_per_second(100'000'000), .queue_bytes = 250'000}};
  const Endpoint near_relay = endpoint("127.0.0.1", 3001);
  const Endpoint far_relay = endpoint("127.0.0.1", 3002);
  const Endpoint direct = path.at(kNear).peer_address();
  const Endpoint near_address = path.at(kFar).peer_address();
};

TEST_F(MovingToARelay, UsesItInBothDirectionsAndStays) {
  path.at(kNear).try_path(path.now(), near_relay);
  path.run_for(1s);
  expect_at(near_relay, far_relay);
  path.run_for(20s);
  expect_at(near_relay, far_relay);
}

TEST_F(MovingToARelay, UsesItWhereTheDirectPathIsCut) {
  path.cut_direct(true);
  path.run_for(1s);
  path.at(kNear).try_path(path.now(), near_relay);
  path.run_for(1s);
  expect_at(near_relay, far_relay);
}

TEST_F(MovingToARelay, GoesBackToTheDirectPath) {
  path.at(kNear).try_path(path.now(), near_relay);
  path.run_for(1s);
  path.at(kNear).try_path(path.now(), direct);
  path.run_for(1s);
  expect_at(direct, near_address);
}

TEST_F(MovingToARelay, ReportsNoPathRateInATunnel) {
  const Endpoint tunnel = tunnel_address(AddressFamily::ipv4);
  path.add_relay(tunnel, tunnel);
  path.at(kNear).try_path(path.now(), tunnel);
  path.run_for(1s);
  expect_at(tunnel, tunnel);
  for (const auto end : {kNear, kFar}) {
    EndStats stats;
    path.at(end).add_end_stats(path.now(), stats);
    EXPECT_EQ(stats.path_rate, BitRate());
    EXPECT_EQ(stats.path_changes, 1U);
  }
}

TEST_F(MovingToARelay, StaysOnItsPathWhereNobodyAnswers) {
  path.at(kNear).try_path(path.now(), near_relay.with_port(4000));
  path.run_for(11s);
  expect_at(direct, near_address);
  path.add_relay(near_relay.with_port(4000), far_relay);
  path.run_for(1s);
  expect_at(direct, near_address);
}

TEST_F(MovingToARelay, TriesNoAddressOfAnotherFamily) {
  int tried = 0;
  TrainBuilder builder(64, 65'000);
  path.at(kNear).try_path(path.now(), endpoint("::1", 3001));
  for (; path.at(kNear).poll_transmit(path.now(), builder); builder.clear())
    tried += builder.train().to.family() == AddressFamily::ipv6 ? 1 : 0;
  EXPECT_EQ(tried, 0);
}

}  // namespace
}  // namespace udtcat::transport::native
