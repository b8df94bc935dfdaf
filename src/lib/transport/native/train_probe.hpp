// SPDX-License-Identifier: Apache-2.0
/// Finds out whether a path loses trains that the kernel or a device segments (UDP_SEGMENT), and carries the same
/// datagrams where they are sent singly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "lib/transport/native/sequence.hpp"

namespace udtcat::transport::native {

/// An experiment in pairs. It begins when three trains in a row are lost (all but their first packets), or one before
/// any has arrived: from then on one train of new data of each pair, at random, leaves as a burst of single datagrams.
/// A queue, a policer or random loss treats both alike, a driver that loses trains does not. Ten pairs in a row of
/// which the train is lost and the burst arrives are the proof: by chance once in 4^10. The arrival of a train that is
/// shorter than the lost ones is no proof against it.
///
///   trusting ──three in a row are lost──► comparing ──ten pairs──► off
///       ▲──── many pairs without proof ────────┘
///
/// Threads: unsynchronised.
class TrainProbe {
 public:
  static constexpr int kSuspicious = 3;            // measured: ADR-0052: at one, 1.3 Gbit/s for 2.1
  static constexpr int kPairs = 10;                // guess: see above
  static constexpr int kPatience = 16;             // guess: pairs without proof, until trains are trusted again
  static constexpr std::size_t kMaxWatched = 256;  // guess: of a longer flight the first ones are enough

  /// off    as an earlier connection has found
  /// seed   of the order within pairs
  TrainProbe(bool off, std::uint32_t seed) : state_(off ? State::off : State::trusting), random_(seed | 1U) {}

  /// The path loses trains: all datagrams are sent singly.
  [[nodiscard]] bool off() const { return state_ == State::off; }
  /// Whether retransmissions are to be sent singly.
  [[nodiscard]] bool retransmits_singly() const { return state_ != State::trusting; }
  /// Whether the next train of new data is to be sent singly.
  [[nodiscard]] bool next_singly() const { return off() || (state_ == State::comparing && next_singly_); }

  /// A train of so many packets of new data has left, singly if next_singly().
  void on_sent(PacketIndex first, std::size_t packets);
  /// A packet that was sent once is lost.
  void on_lost(PacketIndex index);
  /// All packets before `next` are acknowledged.
  void on_acknowledged(PacketIndex next);

 private:
  enum class State { trusting, comparing, off };
  struct Train {
    PacketIndex first;
    std::size_t packets;
    bool singly;
    std::uint64_t pair;  // 0: of none
    std::size_t lost = 0;
    [[nodiscard]] bool is_lost() const { return lost + 1 >= packets; }
    [[nodiscard]] bool has_arrived() const { return 4 * lost <= packets; }
  };

  [[nodiscard]] int lost_in_a_row(std::deque<Train>::const_iterator last) const;
  void compare();
  void next_of_pair();
  void count_in_row(const Train& train);
  void decide(const Train& train);
  void conclude_pair(const Train& train, const Train& burst);
  [[nodiscard]] bool draw();

  State state_;
  std::uint32_t random_;
  std::deque<Train> trains_;  // not all acknowledged yet
  // Of trains before trains_: before the first one, as if all had been lost.
  int earlier_lost_ = kSuspicious;      // how many are lost in a row
  std::size_t least_earlier_lost_ = 0;  // packets of the shortest of those
  bool next_singly_ = false;
  bool first_of_pair_ = true;
  std::uint64_t pair_ = 0;         // the number of the latest
  std::optional<Train> half_;      // the first of a pair of which all is acknowledged
  int run_ = 0;                    // pairs in a row of which the train is lost and the burst has arrived
  std::size_t least_packets_ = 0;  // of the shortest train of run_
  int patience_ = 0;
};

}  // namespace udtcat::transport::native
