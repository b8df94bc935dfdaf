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
    return forwarder_.emplace(near_.device(), far_.device(), both_ways({settings}), 1, begin_);
  }
  /// A forwarder of several paths.
  Forwarder& paths(const std::vector<LinkSettings>& settings) {
    return forwarder_.emplace(near_.device(), far_.device(), both_ways(settings), 1, begin_);
  }
  static std::vector<PathSettings> both_ways(const std::vector<LinkSettings>& settings) {
    std::vector<PathSettings> all;
    for (const LinkSettings& each : settings) all.push_back({each, each});
    return all;
  }
  /// UDP, not cut, of the first flow that takes that one of two paths.
  static Bytes packet_of_path(std::size_t path) {
    for (std::uint16_t port = 1000;; ++port)
      if (Bytes packet = make_packet({.udp = true, .from_port = port, .to_port = 9000}, 500);
          path_of(flow_of(packet), 2) == path)
        return packet;
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
  forwarder_->set(both_ways({slow}), begin_ + 720us);  // half have left
  EXPECT_EQ(deliver(10720us), 3) << "in runs of a quarter of a millisecond";
  EXPECT_EQ(deliver(25720us), 10) << "one by one, 1.5 ms each";
  forwarder_->set(both_ways({fast}), begin_ + 25720us);
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

TEST_F(ForwarderTest, GivesEachPathALinkOfItsOwn) {
  paths({{.rate = *core::parse_rate("8M"), .delay = 10ms}, {.delay = 30ms}});
  for (int i = 0; i < 4; ++i) near_.send(packet_of_path(0));
  near_.send(packet_of_path(1));
  take(0ms);
  const auto each = 528us;  // of 528 bytes at 8 Mbit/s
  EXPECT_EQ(deliver(10ms + 2 * each), 2);
  EXPECT_EQ(deliver(30ms - 1ns), 2);
  EXPECT_EQ(forwarder_->next_due(), begin_ + 30ms);
  EXPECT_EQ(deliver(30ms), 1);
  EXPECT_EQ(forwarder_->out(0).segments, 4U);
  EXPECT_EQ(forwarder_->out(1).segments, 1U);
  EXPECT_EQ(forwarder_->out().segments, 5U);
  EXPECT_EQ(forwarder_->out().bytes, 5U * 528);
  EXPECT_EQ(forwarder_->back().segments, 0U);
}

TEST_F(ForwarderTest, CutsOnePathAndGivesItBack) {
  paths({{}, {}});
  const auto carried = [this](std::chrono::nanoseconds at) {
    for (const std::size_t path : {0U, 1U, 1U}) near_.send(packet_of_path(path));
    take(at);
    return deliver(at);
  };
  EXPECT_EQ(carried(0ms), 3);
  forwarder_->set_down(1, true, begin_ + 1ms);
  EXPECT_FALSE(forwarder_->is_down());
  EXPECT_EQ(carried(1ms), 1);
  EXPECT_EQ(forwarder_->out(1).blacked_out, 2U);
  forwarder_->set_down(0, true, begin_ + 2ms);
  EXPECT_TRUE(forwarder_->is_down());
  EXPECT_EQ(carried(2ms), 0);
  forwarder_->set_down(1, false, begin_ + 3ms);
  EXPECT_EQ(carried(3ms), 2);
  forwarder_->set_down(false, begin_ + 4ms);
  EXPECT_EQ(carried(4ms), 3);
}

TEST_F(ForwarderTest, SetsEachPathByItself) {
  paths({{}, {}});
  forwarder_->set(both_ways({{}, {.loss = 1}}), begin_);
  near_.send(packet_of_path(0));
  near_.send(packet_of_path(1));
  take(0ms);
  EXPECT_EQ(deliver(0ms), 1);
  EXPECT_EQ(forwarder_->out(1).lost, 1U);
}

TEST_F(ForwarderTest, PolicesTheSegmentsOfEachFlow) {
  forwarder({.flow_rate = *core::parse_rate("8M"), .flow_burst_bytes = 15'000});
  const PacketKind kind{.segment_bytes = 1448};
  for (std::uint16_t port = 1; port <= 2; ++port) {
    PacketKind flow = kind;
    flow.from_port = port;
    near_.send(make_packet(flow, 40 * kind.segment_bytes));  // 1500 bytes on the wire each
  }
  take(0ms);
  EXPECT_EQ(deliver(0ms), 2) << "a super-packet for each, of ten segments";
  EXPECT_EQ(forwarder_->out().policed, 60U);
  EXPECT_EQ(forwarder_->out().segments, 80U);
}

}  // namespace
}  // namespace udtcat::wan
