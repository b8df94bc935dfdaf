// SPDX-License-Identifier: Apache-2.0
/// One direction of a path in virtual time: chance, a policer, a queue, a wire, and the ways to come late.
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
  std::size_t loss_burst = 1;                      ///< that many in a row
  double reorder = 0;                              ///< probability of being late
  Duration reorder_delay{0};
  double duplicate = 0;
  std::size_t queue_bytes = 4 << 20;  ///< what waits for the link; then drop-tail
  std::size_t mtu = 1500;             ///< larger ones vanish
  BitRate policer_rate{};             ///< what is beyond that and the bucket is dropped, before the queue; zero: none
  std::size_t policer_bytes = 0;      ///< the bucket, full at first
  Duration release_least{0};          ///< packets are let go together, as Wi-Fi's are, at times so far apart,
  Duration release_most{0};           ///< evenly spread; zero: each when it comes

  /// How much of what comes is lost by chance.
  [[nodiscard]] double lost_share() const {
    const double in_a_row = loss * static_cast<double>(loss_burst);
    return in_a_row / (in_a_row + 1 - loss);
  }
};

/// Chance decides as a packet comes, the queue's length as it comes too, and everything else as it leaves the wire: so
/// a change of rate or delay counts for what waits. Packets keep their order, whatever becomes of the delay, but those
/// that chance makes late.
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

  /// Everything that happened before `now` happens by the settings so far: to be called before these are changed.
  void advance(TimePoint now);
  /// returns   whether it is on its way; if not, its bytes are as they were
  [[nodiscard]] bool take(TimePoint now, Packet&& packet, std::mt19937& random);
  /// When next() may have one, if nothing more is taken.
  [[nodiscard]] TimePoint due() const;
  /// Moves out the next packet that has come by `now`.  returns   whether there is one
  [[nodiscard]] bool next(TimePoint now, Packet& packet);
  [[nodiscard]] TimePoint next_at() const;

  [[nodiscard]] const Counts& counts() const { return counts_; }
  /// Of the queue and the wire's end of it.
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
  TimePoint wire_free_{};  // its first packet left, or came, then
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
