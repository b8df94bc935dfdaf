// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/congestion/bbr_probe_rtt.hpp"

#include <chrono>
#include <utility>

namespace udtcat::transport::native {

namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

constexpr Duration kMomentPeriod = 3s;  // measured: ADR-0059: with two, CUBIC takes nine tenths of a deep queue
// measured: ADR-0059: the queue stays empty for a second; with 2.5 s each other moment is missed
constexpr Duration kUnconfirmedFor = 1'500ms;
constexpr Duration kDoubtfulPeriod = 500ms;  // guess: unexplained loss costs some rate meanwhile
constexpr std::int64_t kSeldom = 3;          // guess: nine seconds, within the ten after which the minimum expires

}  // namespace

bool ProbeRttSchedule::due(TimePoint now, Duration unconfirmed, bool doubtful) {
  const std::int64_t doubtful_moment = now.time_since_epoch() / kDoubtfulPeriod;
  if (std::exchange(last_doubtful_, doubtful_moment) != doubtful_moment && doubtful) return true;
  const std::int64_t moment = now.time_since_epoch() / kMomentPeriod;
  if (std::exchange(last_, moment) == moment) return false;
  return unconfirmed >= kUnconfirmedFor && (!queue_left_ || moment % kSeldom == 0);
}

}  // namespace udtcat::transport::native
