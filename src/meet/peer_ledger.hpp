// SPDX-License-Identifier: Apache-2.0
/// How much of a place each peer has (docs/spec/meet.md §8). No input or output here.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

namespace udtcat::meet {

struct PlaceLimits {
  std::size_t pairs = 100;                         ///< spec: docs/spec/meet.md §8, as the others
  std::size_t registrations = 1024;                ///< spec: likewise
  std::size_t registrations_of_one = 16;           ///< spec: likewise
  std::size_t pairs_of_one = 32;                   ///< spec: likewise
  std::size_t asks_each_second = 10;               ///< spec: likewise, of one
  std::chrono::milliseconds patience{10'000};      ///< spec: likewise, for a registration or an answer
  std::chrono::milliseconds pair_idle{60'000};     ///< spec: docs/spec/meet.md §5
  std::chrono::milliseconds pair_ended{2'000};     ///< spec: likewise, whose connector has ended its stream
  std::chrono::milliseconds again_pause{1'000};    ///< spec: docs/spec/meet.md §4
  std::chrono::milliseconds session_idle{60'000};  ///< guess: of a peer that has no stream; as long as a pair
};

/// A peer is the holder of a key pair, or the host of an address where all have one key.
/// Threads: unsynchronised.
class PeerLedger {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Peer = std::string;

  explicit PeerLedger(const PlaceLimits& limits) : limits_(limits) {}

  /// Whether there was room for one more, which is its from then on.
  [[nodiscard]] bool add_registration(const Peer& peer);
  void remove_registration(const Peer& peer);
  [[nodiscard]] bool add_pair(const Peer& peer);
  void remove_pair(const Peer& peer);
  /// Whether it may ask now.
  [[nodiscard]] bool add_ask(const Peer& peer, TimePoint now);

  [[nodiscard]] std::size_t registrations() const { return registrations_; }
  [[nodiscard]] std::size_t pairs() const { return pairs_; }
  /// Of which something is known.
  [[nodiscard]] std::size_t peers() const { return held_.size(); }

 private:
  struct Share {
    std::size_t registrations = 0;
    std::size_t pairs = 0;
  };
  void forget_if_empty(const Peer& peer);

  const PlaceLimits limits_;
  std::map<Peer, Share> held_;  // as many as have registrations or pairs
  std::size_t registrations_ = 0;
  std::size_t pairs_ = 0;
  std::map<Peer, std::size_t> asks_;  // of this second; as many peers as have sessions
  TimePoint second_began_{};
};

}  // namespace udtcat::meet
