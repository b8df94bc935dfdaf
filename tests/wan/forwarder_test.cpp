// SPDX-License-Identifier: Apache-2.0
#include "wan/forwarder.hpp"

#include <array>

#include <sys/socket.h>

#include <gtest/gtest.h>

#include "lib/core/user_text.hpp"
#include "wan/packets.hpp"

namespace udtcat::wan {
namespace {

using namespace std::chrono_literals;

/// An end whose kernel is the test: each datagram of a pair of sockets is a packet.
class End {
 public:
  End() {
    std::array<int, 2> pair{-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair.data()), 0);
    device_ = Descriptor(pair[0]);
    kernel_ = Descriptor(pair[1]);
  }
  [[nodiscard]] TunDevice device() { return TunDevice(std::move(device_)); }
  void send(const Bytes& packet) const {
    EXPECT_EQ(::send(kernel_.fd(), packet.data(), packet.size(), 0), static_cast<ssize_t>(packet.size()));
  }
  [[nodiscard]] int received() const {
    std::array<char, kMaxPacketBytes> packet{};
    int count = 0;
    while (::recv(kernel_.fd(), packet.data(), packet.size(), 0) > 0) ++count;
    return count;
  }

 private:
  Descriptor device_;
  Descriptor kernel_;
};

class ForwarderTest : public testing::Test {
 protected:
  Forwarder& forwarder(const LinkSettings& settings) {
    return forwarder_.emplace(near_.device(), far_.device(), PathSettings{settings, settings}, 1, begin_);
  }
  /// IPv4, of 1500 bytes on the wire each.
  static Bytes packet(std::size_t segments) {
    const PacketKind kind{.segment_bytes = 1448};
    return make_packet(kind, segments * kind.segment_bytes);
  }
  void take(std::chrono::nanoseconds at) {
    forwarder_->take([this, at] { return begin_ + at; });
  }
  int deliver(std::chrono::nanoseconds at) {
    forwarder_->deliver(begin_ + at, 0ns);
    return far_.received();
  }

  End near_;
  End far_;
  std::optional<Forwarder> forwarder_;
  TimePoint begin_{1h};
};

TEST_F(ForwarderTest, ReadsItsClockAfterEachPacket) {
  forwarder({.delay = 10ms});
  for (int i = 0; i < 3; ++i) near_.send(packet(1));
  auto now = begin_;
  forwarder_->take([&now] { return now += 1ms; });
  EXPECT_EQ(deliver(11ms), 1) << "the others came later, and are not due before it";
  EXPECT_EQ(deliver(12ms), 1);
  EXPECT_EQ(deliver(13ms), 1);
}

TEST_F(ForwarderTest, NeverLetsTimeGoBack) {
  forwarder({.delay = 10ms});
  near_.send(packet(1));
  take(5ms);
  near_.send(packet(1));
  take(4ms);
  EXPECT_EQ(deliver(15ms - 1ns), 0);
  EXPECT_EQ(deliver(15ms), 2);
}

TEST_F(ForwarderTest, CutsASuperPacketAsItLeaves) {
  forwarder({.rate = *core::parse_rate("8M")});
  near_.send(packet(10));
  take(0ms);
  for (auto due = 1500us; due <= 15ms; due += 1500us) {
    EXPECT_EQ(forwarder_->next_due(), begin_ + due);
    EXPECT_EQ(deliver(due - 1ns), 0);
    EXPECT_EQ(deliver(due), 1);
  }
  EXPECT_EQ(forwarder_->next_due(), std::nullopt);
}

TEST_F(ForwarderTest, SendsWhatWaitsAtARateThatIsTold) {
  const LinkSettings fast{.rate = *core::parse_rate("1G"), .delay = 10ms, .queue_bytes = 1'000'000};
  LinkSettings slow = fast;
  slow.rate = *core::parse_rate("8M");
  forwarder(fast);
  for (int i = 0; i < 3; ++i) near_.send(packet(40));
  take(0ms);
  forwarder_->set({slow, slow}, begin_ + 720us);  // half have left
  EXPECT_EQ(deliver(10720us), 3) << "in runs of a quarter of a millisecond";
  EXPECT_EQ(deliver(25720us), 10) << "one by one, 1.5 ms each";
  forwarder_->set({fast, fast}, begin_ + 25720us);
  EXPECT_EQ(forwarder_->next_due(), begin_ + 27220us) << "those on their way arrive as they would have";
  EXPECT_EQ(deliver(35720us), 6);
  EXPECT_EQ(deliver(36320us), 3) << "44 of the rest, in a third of a millisecond";
  EXPECT_EQ(forwarder_->next_due(), std::nullopt);
  EXPECT_EQ(forwarder_->out().tail_dropped, 0U);
}

TEST_F(ForwarderTest, HandsOverInBursts) {
  forwarder({.release = {8ms, 8ms}});
  deliver(0ms);
  const auto opens = (begin_.time_since_epoch() / 8ms + 1) * 8ms - begin_.time_since_epoch();
  for (int i = 0; i < 5; ++i) {
    near_.send(packet(1));
    take(i * 100us + 1us);
  }
  EXPECT_EQ(deliver(opens - 1ns), 0);
  EXPECT_EQ(forwarder_->next_due(), begin_ + opens);
  EXPECT_EQ(deliver(opens), 5);
}

TEST_F(ForwarderTest, CutsWhatCodelDropsOutOfASuperPacket) {
  LinkSettings settings{.rate = *core::parse_rate("8M"), .queue_bytes = 1'000'000};
  settings.codel = true;
  forwarder(settings);
  int received = 0;
  for (auto at = 0ms; at < 10s; at += 15ms) {
    if (at < 3s) near_.send(packet(20));  // in the time of ten
    take(at);
    received += deliver(at);
  }
  EXPECT_GT(forwarder_->out().codel_dropped, 20U);
  EXPECT_EQ(received + static_cast<int>(forwarder_->out().codel_dropped + forwarder_->out().tail_dropped), 200 * 20);
}

TEST_F(ForwarderTest, DeliversBothCopiesOfWhatComesTwice) {
  forwarder({.duplicate = 1});
  near_.send(packet(3));
  take(0ms);
  EXPECT_EQ(deliver(0ms), 6);
}

TEST_F(ForwarderTest, TurnsOutagesOnForWhatWaits) {
  forwarder({.rate = *core::parse_rate("8M")});
  near_.send(packet(10));
  take(0ms);
  forwarder_->set_down(true, begin_ + 4500us);
  EXPECT_EQ(deliver(12ms), 3);
  forwarder_->set_down(false, begin_ + 12ms);
  EXPECT_EQ(deliver(15ms), 2);
}

}  // namespace
}  // namespace udtcat::wan
