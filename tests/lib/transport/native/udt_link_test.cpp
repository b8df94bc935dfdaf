// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/udt_link.hpp"

#include <memory>

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"
#include "support/run_until.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

/// A link at a port that counts what it is told.
class UdtLinkTest : public testing::Test, public LinkPort {
 protected:
  static ConnectionSettings settings() {
    ConnectionSettings made;
    made.mss = 1500;
    made.flow_window = 100;
    made.peer_address = endpoint("192.0.2.1", 1000);
    made.started = kStart;
    return made;
  }

  boost::asio::io_context io;
  core::ChunkPool chunks{65'536};
  int scheduled = 0;
  int timers = 0;
  std::unique_ptr<UdtLink> link = std::make_unique<UdtLink>(*this, io, settings(), false, chunks);

 private:
  void on_scheduled(UdtLink& /*link*/) override { ++scheduled; }
  void on_timer(UdtLink& /*link*/) override { ++timers; }
  void add_end_stats(EndStats& /*end*/) const override {}
  void set_tunnel(AddressFamily /*family*/, std::function<void(std::span<const std::byte>)> /*send*/) override {}
  void take_from_tunnel(std::span<const std::byte> /*packet*/) override {}
};

TEST_F(UdtLinkTest, TellsItsPortOnceATurnOfAllChanges) {
  link->schedule();
  link->schedule();
  EXPECT_EQ(scheduled, 0) << "not within the call";
  io.poll();
  EXPECT_EQ(scheduled, 1);
  link->schedule();
  io.restart();
  io.poll();
  EXPECT_EQ(scheduled, 2);
}

TEST_F(UdtLinkTest, KeepsATimerThatGoesOffBefore) {
  link->arm(clock_now() + 1ms);
  link->arm(clock_now() + 1h);
  EXPECT_TRUE(udtcat::test::run_until(io, [&] { return timers == 1; }));
}

TEST_F(UdtLinkTest, SetsItsTimerToAnEarlierMoment) {
  link->arm(clock_now() + 1h);
  link->arm(clock_now() + 1ms);
  EXPECT_TRUE(udtcat::test::run_until(io, [&] { return timers == 1; }));
}

TEST_F(UdtLinkTest, TellsNobodyOnceItIsGone) {
  link->schedule();
  link->arm(clock_now());
  link.reset();
  io.run();
  EXPECT_EQ(scheduled + timers, 0);
}

TEST_F(UdtLinkTest, IsTouchedOnceUntilItIsSettled) {
  EXPECT_TRUE(link->touch());
  EXPECT_FALSE(link->touch());
  link->clear_touch();
  EXPECT_TRUE(link->touch());
}

}  // namespace
}  // namespace udtcat::transport::native
