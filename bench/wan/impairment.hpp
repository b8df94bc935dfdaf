// SPDX-License-Identifier: Apache-2.0
/// Which segments suffer: random processes that cost nothing for those that do not.
#pragma once

#include <cstdint>
#include <random>

namespace udtcat::wan {

/// The lab's only source of chance: the same seed and the same traffic give the same fates.
using Random = std::mt19937_64;

/// Strikes each of a row of segments with a probability of its own, or in bursts. Draws how far it is to the next
/// strike rather than once a segment. Threads: unsynchronised.
class Impairment {
 public:
  /// probability   of a segment to be struck, 0 to 1
  /// burst_length  the mean number of segments struck in a row: Gilbert's model; 0: each independently. A probability
  ///               above burst_length / (burst_length + 1), short of 1, would need bursts without a segment between
  ///               them, and is cut to that
  Impairment(double probability, double burst_length, Random& random);

  /// How many segments go unharmed before the next strike.
  [[nodiscard]] std::uint64_t unharmed() const { return unharmed_; }
  /// So many went by unharmed, at most unharmed().
  void pass(std::uint64_t segments) { unharmed_ -= segments; }
  /// One was struck.
  void strike();

 private:
  void draw_gap();

  double start_;         // the probability that a strike begins, having come to a segment out of a burst
  double continue_ = 0;  // that the next is struck too, in a burst
  bool independent_;
  bool certain_;
  Random* random_;
  std::uint64_t unharmed_ = 0;
};

}  // namespace udtcat::wan
