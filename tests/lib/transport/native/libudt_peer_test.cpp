// SPDX-License-Identifier: Apache-2.0
/// src/lib/transport/native: a sender to a model of libudt's receiver on a busy host.

#include <algorithm>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lib/transport/native/parts.hpp"
#include "lib/transport/native/udt_sender.hpp"

namespace udtcat::transport::native {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kFirstToLibudt = 1000;
constexpr std::size_t kPayloadToLibudt = 1456;
constexpr std::uint32_t kWindowOfLibudt = 8192;

/// libudt 4.11 as the receiver: a NAK for each gap, once; timers that it looks at after each packet, and where none
/// comes each 100 ms. It runs now and then: packets wait in its socket until then, and are lost where that is full.
class BusyLibudt {
 public:
  BusyLibudt(std::size_t socket_packets, Duration runs_each, UdtSender& sender)
      : socket_packets_(socket_packets), runs_each_(runs_each), sender_(sender) {}

  void on_packet(std::uint32_t sequence) {
    if (socket_.size() < socket_packets_) socket_.push_back(sequence - kFirstToLibudt);
  }
  [[nodiscard]] TimePoint runs_at() const { return runs_at_; }
  void run(TimePoint now) {
    runs_at_ = now + runs_each_;
    confirmed_ = sent_;
    for (; !socket_.empty(); socket_.pop_front()) {
      take(now, socket_.front());
      look_at_timers(now);
      looked_at_ = now;
    }
    if (now - looked_at_ < 100ms) return;
    looked_at_ = now;
    look_at_timers(now);
  }
  [[nodiscard]] PacketIndex next() const { return missing_.empty() ? end_ : *missing_.begin(); }

 private:
  void take(TimePoint now, PacketIndex index) {
    ++packets_;
    missing_.erase(index);
    if (index > end_) {
      for (PacketIndex each = end_; each < index; ++each) missing_.insert(each);
      const SequenceRange gap{static_cast<std::uint32_t>(kFirstToLibudt + end_),
                              static_cast<std::uint32_t>(kFirstToLibudt + index - 1)};
      sender_.on_nak(now, std::span(&gap, 1));
    }
    end_ = std::max(end_, index + 1);
  }
  [[nodiscard]] Acknowledgement light_ack() const {
    Acknowledgement ack;
    ack.next = static_cast<std::uint32_t>(kFirstToLibudt + next());
    return ack;
  }
  void look_at_timers(TimePoint now) {
    if (now > full_ack_at_) {
      full_ack_at_ = now + kSyn;
      packets_ = 0;
      light_acks_ = 1;
      const bool again = next() == sent_ && now - sent_at_ < 20ms;
      if (next() == confirmed_ || again) return;
      sent_ = next();
      sent_at_ = now;
      Acknowledgement full = light_ack();
      full.window_packets = kWindowOfLibudt - static_cast<std::uint32_t>(end_ - sent_);
      sender_.on_ack(now, full);
    } else if (packets_ >= kLightAckPackets * light_acks_) {
      ++light_acks_;
      if (next() != confirmed_) sender_.on_ack(now, light_ack());
    }
  }

  const std::size_t socket_packets_;
  const Duration runs_each_;
  UdtSender& sender_;
  std::deque<PacketIndex> socket_;
  std::set<PacketIndex> missing_;
  PacketIndex end_ = 0;
  PacketIndex sent_ = 0;
  PacketIndex confirmed_ = 0;  // by ACK2, which has come when it runs again
  std::uint32_t packets_ = 0;
  std::uint32_t light_acks_ = 1;
  TimePoint runs_at_ = kStart;
  TimePoint looked_at_ = kStart;
  TimePoint full_ack_at_ = kStart;
  TimePoint sent_at_ = kStart;
};

struct Host {
  std::size_t socket_packets;
  Duration runs_each;
};

/// returns   how long `packets` packets take
Duration time_to(const Host& host, PacketIndex packets) {
  UdtSender sender({.peer = PeerKind::plain,
                    .initial_sequence = kFirstToLibudt,
                    .peer_id = 9,
                    .window_packets = kWindowOfLibudt,
                    .payload_bytes = kPayloadToLibudt,
                    .memory_bytes = 64 << 20,
                    .rate_cap = {},
                    .random_seed = 1,
                    .started = kStart});
  BusyLibudt peer(host.socket_packets, host.runs_each, sender);
  sender.write(core::SharedBytes::adopt(numbered_bytes(packets * kPayloadToLibudt, 0)));
  TrainBuilder builder(64, 65'000);
  TimePoint now = kStart;
  while (peer.next() < packets && now - kStart < 60s) {
    sender.handle_timeout(now);
    for (builder.clear(); sender.poll_train(now, builder); builder.clear()) {
      auto piece = builder.train().pieces.begin();
      for (const auto count : builder.train().piece_counts) {
        peer.on_packet(decode_data_header(*piece).sequence);
        piece += count;
      }
    }
    now = std::clamp(sender.deadline(now).value_or(TimePoint::max()), now + 1us, std::max(peer.runs_at(), now + 1us));
    if (now >= peer.runs_at()) peer.run(now);
  }
  return now - kStart;
}

class SenderToABusyLibudt : public testing::TestWithParam<Host> {};
INSTANTIATE_TEST_SUITE_P(With, SenderToABusyLibudt, testing::Values(Host{150, 35ms}, Host{150, 70ms}, Host{300, 70ms}),
                         [](const auto& each) {
                           return std::to_string(each.param.socket_packets) + "PacketsEach" +
                                  std::to_string(each.param.runs_each / 1ms) + "Ms";
                         });

// One hole a round trip: 27 s with 150 packets each 70 ms.
TEST_P(SenderToABusyLibudt, RepairsAllHolesInAFewRoundTrips) {
  constexpr PacketIndex kPackets = 11'523;  // 16 MiB
  const auto runs = static_cast<std::int64_t>(kPackets / GetParam().socket_packets) + 1;
  EXPECT_LT(time_to(GetParam(), kPackets), runs * GetParam().runs_each * 5 / 2) << "a full socket each time is once";
}

}  // namespace
}  // namespace udtcat::transport::native
