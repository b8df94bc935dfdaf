// SPDX-License-Identifier: Apache-2.0
/// Finds out whether a path loses the trains that the kernel or a device cuts, and carries the same datagrams singly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "lib/transport/native/sequence.hpp"

namespace udtcat::transport::native {

/// After three trains in a row that were lost (all but their first packets), or one before any has arrived, every other
/// train of new data, in a drawn order, leaves as a burst of as many datagrams. A queue, a policer or chance treats
/// both alike, a driver that loses trains does not. Ten pairs in a row with the train lost and the burst arrived prove
/// it: by chance once in 4^10. Trains shorter than those that were lost prove nothing by arriving.
///
///   trusting ──three in a row are lost──► comparing ──ten pairs──► off
///       ▲──── many pairs that prove nothing ───┘
///
/// Threads: unsynchronised.
class TrainTrial {
 public:
  static constexpr int kSuspicious = 3;            // measured: ADR-0052: at one, 1.3 Gbit/s for 2.1
  static constexpr int kPairs = 10;                // guess: see above
  static constexpr int kPatience = 16;             // guess: pairs without proof, until trains are trusted again
  static constexpr std::size_t kMaxWatched = 256;  // guess: of a longer flight the first ones tell enough

  /// off    known from an earlier connection
  /// seed   of the order of the pairs
  TrainTrial(bool off, std::uint32_t seed) : state_(off ? State::off : State::trusting), random_(seed | 1U) {}

  /// Trains are lost: all datagrams go singly.
  [[nodiscard]] bool off() const { return state_ == State::off; }
  /// Whether all packets that go again are to leave singly.
  [[nodiscard]] bool repairs_singly() const { return state_ != State::trusting; }
  /// Whether the next train of new data is to leave singly.
  [[nodiscard]] bool next_singly() const { return off() || (state_ == State::comparing && next_singly_); }

  /// So many packets of new data have left, as next_singly() said.
  void on_sent(PacketIndex first, std::size_t packets);
  /// A packet that was sent once is lost.
  void on_lost(PacketIndex index);
  /// All before `next` has arrived, or was repaired.
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
  void settle(const Train& train);
  void judge(const Train& train, const Train& burst);
  [[nodiscard]] bool draw();

  State state_;
  std::uint32_t random_;
  std::deque<Train> trains_;  // not all acknowledged yet
  // Of those before trains_. Nothing good is known of what comes before the first.
  int settled_lost_ = kSuspicious;      // in a row
  std::size_t least_settled_lost_ = 0;  // packets of the shortest of them
  bool next_singly_ = false;
  bool first_of_pair_ = true;
  std::uint64_t pair_ = 0;         // the latest
  std::optional<Train> half_;      // of a pair, settled
  int run_ = 0;                    // pairs that prove the loss, without one between that does not
  std::size_t least_packets_ = 0;  // of the trains of run_
  int patience_ = 0;
};

}  // namespace udtcat::transport::native
