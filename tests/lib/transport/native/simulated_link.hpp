// SPDX-License-Identifier: Apache-2.0
/// One direction of a path in virtual time: random loss, a policer, a queue, a wire, and reordering.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include <udtcat/endpoint.hpp>
#include <udtcat/units.hpp>

#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// The treatment of datagrams in one direction. Sizes count IPv4's and UDP's 28 bytes.
struct PathSettings {
  BitRate rate = BitRate::from_bits_per_second(1'000'000'000);
  Duration delay = std::chrono::milliseconds(10);  ///< one way
  double loss = 0;                                 ///< probability
  std::size_t loss_burst = 1;                      ///< packets lost in a row
  double reorder = 0;                              ///< probability of being late
  Duration reorder_delay{0};
  double duplicate = 0;
  std::size_t queue_bytes = 4 << 20;  ///< of the drop-tail queue
  std::size_t mtu = 1500;             ///< larger packets are dropped, without ICMP
  BitRate policer_rate{};             ///< of a token bucket policer before the queue; zero: none
  std::size_t policer_bytes = 0;      ///< of the bucket, which is full at first
  Duration release_least{
      0};  ///< packets are released together, as by Wi-Fi, at intervals of release_least to release_most,
  Duration release_most{0};  ///< uniformly distributed; zero: each when it comes

  /// The share of packets that are lost at random.
  [[nodiscard]] double lost_share() const {
    const double in_a_row = loss * static_cast<double>(loss_burst);
    return in_a_row / (in_a_row + 1 - loss);
  }
};

/// Random loss and the queue's length are decided when a packet comes, everything else when it leaves the wire: a
/// change of rate or delay counts for queued packets. Packets keep their order, also where the delay shrinks, but for
/// reordered ones.
/// Threads: unsynchronised; time is a parameter and does not go back.
class SimulatedLink {
 public:
  struct Packet {
    Endpoint from;
    std::vector<std::byte> bytes;
  };
  struct Counts {
    std::uint64_t taken = 0;
    std::uint64_t lost = 0;
    std::uint64_t policed = 0;
    std::uint64_t overflowed = 0;
  };

  PathSettings settings;

  /// Simulates up to `now`: to be called before the settings are changed.
  void advance(TimePoint now);
  /// returns   whether the packet is taken; if not, it is unchanged
  [[nodiscard]] bool take(TimePoint now, Packet&& packet, std::mt19937& random);
  /// When next() gives a packet, if no more are taken.
  [[nodiscard]] TimePoint due() const;
  /// Moves out the next packet that has arrived by `now`.  returns   whether there is one
  [[nodiscard]] bool next(TimePoint now, Packet& packet);
  [[nodiscard]] TimePoint next_at() const;

  [[nodiscard]] const Counts& counts() const { return counts_; }
  /// In the queue, and partly on the wire.
  [[nodiscard]] std::uint64_t waiting_bytes(TimePoint now) const;
  [[nodiscard]] Duration time_of(std::uint64_t bytes) const;

 private:
  struct Waiting {
    Packet packet;
    std::size_t ip_bytes;
    bool late;
  };
  struct Flying {
    TimePoint at;
    std::uint64_t number;
    Packet packet;
  };
  static bool later(const Flying& one, const Flying& other) {
    return one.at != other.at ? one.at > other.at : one.number > other.number;
  }

  [[nodiscard]] bool conforms(TimePoint now, std::size_t bytes);
  [[nodiscard]] TimePoint released(TimePoint at);
  [[nodiscard]] const Flying* first_flying() const;

  std::deque<Waiting> waiting_;
  std::uint64_t waiting_bytes_ = 0;
  TimePoint wire_free_{};  // when the first queued packet begins to leave
  std::deque<Flying> flying_;
  std::vector<Flying> late_;  // a heap
  TimePoint last_at_{};
  std::uint64_t next_number_ = 0;
  std::size_t losing_ = 0;

  bool policing_ = false;
  double tokens_ = 0;  // bytes
  TimePoint filled_at_{};
  TimePoint gate_{};
  std::mt19937 gate_random_{7};
  Counts counts_;
};

}  // namespace udtcat::transport::native
