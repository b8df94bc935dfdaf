// SPDX-License-Identifier: Apache-2.0
/// Acceptance 4: a dead peer is noticed and named; a path that comes back is not a dead peer.
#include <algorithm>
#include <csignal>
#include <cstdio>

#include "e2e/support/tcp_client.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

constexpr auto kNoticed = patience(15s);

class PeerLoss : public UdtcatTest {
 protected:
  /// Runs a connection, kills one end of it, and expects the other to say who is gone.
  void expect_noticed(std::uint64_t bytes_each_way, bool kill_listener) const {
    TwoWay two_way(bytes_each_way, Afterwards::keep_open, Begin::at_once);
    Process listener = listen(two_way.listener.end());
    Process connector = connect(two_way.connector.end());
    ASSERT_TRUE(two_way.both_received(1, kAtOnce)) << connector.errors() << listener.errors();
    (kill_listener ? listener : connector).send_signal(SIGKILL);
    Process& survivor = kill_listener ? connector : listener;
    expect_exit(survivor, kPeerLost, kNoticed);
    expect_says(survivor, host_);
  }
};

TEST_F(PeerLoss, OfABusyListenerIsNoticed) { expect_noticed(Producer::kEndless, true); }
TEST_F(PeerLoss, OfABusyConnectorIsNoticed) { expect_noticed(Producer::kEndless, false); }
TEST_F(PeerLoss, OfAnIdleListenerIsNoticed) { expect_noticed(64, true); }
TEST_F(PeerLoss, OfAnIdleConnectorIsNoticed) { expect_noticed(64, false); }

TEST_F(PeerLoss, ByStoppingIsNoticedAfterTheIdleTimeout) {
  TwoWay two_way(64, Afterwards::keep_open, Begin::at_once);
  Process listener = listen(two_way.listener.end({"--idle-timeout", "5s"}));
  Process connector = connect(two_way.connector.end());
  ASSERT_TRUE(two_way.both_received(64, kAtOnce)) << connector.errors() << listener.errors();
  connector.send_signal(SIGSTOP);
  expect_exit(listener, kPeerLost, kNoticed);
  expect_says(listener, host_);
}

/// The far end of a forward that is killed, and started again on its port before anybody can miss it.
class Restart : public UdtcatTest {
 protected:
  [[nodiscard]] Process start_far() const {
    return listen({.args = {"--to", "127.0.0.1:" + std::to_string(service_.port())}});
  }
  /// How long the near end took to know.
  [[nodiscard]] std::optional<std::chrono::milliseconds> kill_and_start_again() {
    const std::uint16_t entrance = free_port();
    Process near = connect({.args = {"--from", "127.0.0.1:" + std::to_string(entrance), "--once"}});
    if (!accepts_tcp(entrance, kAtOnce) || !service_.accept(kAtOnce)) return std::nullopt;
    far_->send_signal(SIGKILL);
    const auto killed = Clock::now();
    if (!far_->wait(kAtOnce)) return std::nullopt;
    far_.emplace(start_far());
    expect_exit(near, kPeerLost, kNoticed);
    expect_says(near, "knows nothing of this session");
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - killed);
  }

  const TcpListener service_;
  std::optional<Process> far_ = start_far();
};

TEST_F(Restart, OfTheFarEndIsNoticedLongBeforeTheIdleTimeout) { EXPECT_TRUE(kill_and_start_again()); }

TEST_F(Restart, IsNoticedTwentyTimesOfTwentySoak) {
  std::vector<std::chrono::milliseconds> took;
  for (int i = 0; i < 20; ++i)
    if (const auto time = kill_and_start_again()) took.push_back(*time);
  ASSERT_EQ(took.size(), 20U);
  std::sort(took.begin(), took.end());
  std::printf("20 kills: the near end knew after %lld, %lld, %lld ms (least, median, most)\n",
              static_cast<long long>(took.front().count()), static_cast<long long>(took[10].count()),
              static_cast<long long>(took.back().count()));
  EXPECT_LE(took.back(), 5s);
}

class BlackHole : public TwoHostsTest {};

TEST_F(BlackHole, OfTwentySecondsLosesNothingSlow) {
  // In flight when the path goes: whatever the pipes and buffers hold of an endless stream.
  TwoWay two_way(scaled(512 * kMiB), Afterwards::end, Begin::at_once);
  Process listener = listen_far(two_way.listener.end());
  Process connector = connect_near(two_way.connector.end());
  ASSERT_TRUE(two_way.both_received(scaled(8 * kMiB), kTransferLimit)) << connector.errors() << listener.errors();
  hosts_->black_hole();
  EXPECT_FALSE(connector.wait(20s)) << connector.errors();
  EXPECT_TRUE(listener.running()) << listener.errors();
  hosts_->restore();
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(two_way.listener.consumer.digest(), two_way.connector.producer.digest());
  EXPECT_EQ(two_way.connector.consumer.digest(), two_way.listener.producer.digest());
}

TEST_F(BlackHole, WithoutEndIsAPeerLostSlow) {
  TwoWay two_way(64, Afterwards::keep_open, Begin::at_once);
  Process listener = listen_far(two_way.listener.end({"--idle-timeout", "10s"}));
  Process connector = connect_near(two_way.connector.end({"--idle-timeout", "10s"}));
  ASSERT_TRUE(two_way.both_received(64, kAtOnce)) << connector.errors() << listener.errors();
  hosts_->black_hole();
  expect_exit(listener, kPeerLost, kNoticed);
  expect_exit(connector, kPeerLost, kNoticed);
  expect_says(connector, host_);
  expect_says(listener, hosts_->near_host().ipv4);
}

}  // namespace
}  // namespace udtcat::test::e2e
