// SPDX-License-Identifier: Apache-2.0
#include "ssh/push_progress.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace udtcat::ssh {

namespace {

constexpr std::chrono::seconds kSilence{3};  // guess: two lines of the far side that did not come
constexpr std::size_t kLeastColumns = 20;    // guess: "[ 43 %] 1.2 MB of 4.1"; what is longer is cut

}  // namespace

PushProgress::PushProgress(const std::string& host, std::uint64_t all_bytes)
    : beginning_(fmt::format("udtcat: sending udtcat to {}  ", host)), all_bytes_(all_bytes) {}

void PushProgress::hear(std::uint64_t bytes, std::chrono::nanoseconds at) {
  have_bytes_ = std::max(have_bytes_, bytes);
  heard_at_ = at;
}

std::string PushProgress::line(std::chrono::nanoseconds now, std::size_t columns) {
  tool::ProgressSnapshot snapshot{.now = {.stats = {}, .elapsed = now},
                                  .amount = tool::Amount{.done_bytes = have_bytes_, .all_bytes = all_bytes_}};
  snapshot.now.stats.bytes_sent = have_bytes_;
  if (now - heard_at_ >= kSilence)
    snapshot.now.stats.silence = std::chrono::duration_cast<std::chrono::milliseconds>(now - heard_at_);
  const std::size_t taken = std::min(beginning_.size(), columns);
  return beginning_ + progress_.line(snapshot, std::max(columns - taken, kLeastColumns));
}

}  // namespace udtcat::ssh
