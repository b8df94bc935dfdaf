// SPDX-License-Identifier: Apache-2.0
#include "wan/impairment.hpp"

#include <cmath>
#include <limits>

namespace udtcat::wan {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

double uniform(Random& random) { return std::uniform_real_distribution<double>(0.0, 1.0)(random); }

}  // namespace

Impairment::Impairment(double probability, double burst_length, Random& random)
    : start_(probability), independent_(burst_length <= 0), certain_(probability >= 1), random_(&random) {
  if (!independent_ && probability > 0 && !certain_) {
    // In equilibrium a share `probability` of all segments lies in bursts of that mean length.
    continue_ = 1 - 1 / burst_length;
    start_ = probability / (burst_length * (1 - probability));
  }
  draw_gap();
}

void Impairment::strike() {
  if (!independent_ && !certain_ && uniform(*random_) < continue_)
    return;  // the burst goes on: still nothing unharmed before it
  draw_gap();
  // A burst that has ended is followed by one segment at least that is not struck.
  if (!independent_ && unharmed_ != kNever && !certain_) ++unharmed_;
}

/// Geometric: how many fail to be struck before one is.
void Impairment::draw_gap() {
  if (start_ <= 0) {
    unharmed_ = kNever;
  } else if (start_ >= 1) {
    unharmed_ = 0;
  } else {
    const double gap = std::floor(std::log(1 - uniform(*random_)) / std::log1p(-start_));
    unharmed_ = gap < 1e18 ? static_cast<std::uint64_t>(gap) : kNever;
  }
}

}  // namespace udtcat::wan
