// SPDX-License-Identifier: Apache-2.0
#include "tool/status/snapshot_question.hpp"

#include <utility>

namespace udtcat::tool {

void SnapshotQuestion::async_ask(SnapshotSource source, Handler handler) {
  ProcessSnapshot before = source();
  rates_.set(before, Rates::TimePoint::clock::now());
  timer_.expires_after(kStatusInterval);
  timer_.async_wait(lifetime_.guard(
      [this, source = std::move(source), handler = std::move(handler)](const boost::system::error_code&) {
        ProcessSnapshot now = source();
        rates_.set(now, Rates::TimePoint::clock::now());
        handler(std::move(now));
      }));
}

}  // namespace udtcat::tool
