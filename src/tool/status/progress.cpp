// SPDX-License-Identifier: Apache-2.0
#include "tool/status/progress.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "lib/core/user_text.hpp"

namespace udtcat::tool {

namespace {

using std::chrono::nanoseconds;

constexpr std::chrono::seconds kLeastOfRate{1};      // guess: some round trips of a long path
constexpr std::chrono::seconds kRateWindow{3};       // guess: calm, and yet what happens now
constexpr std::chrono::seconds kLeastOfTimeLeft{3};  // guess: the beginning of a transfer is slower than the rest
constexpr std::chrono::seconds kTimeLeftWindow{15};  // guess: a stall of a second does not make it jump
constexpr nanoseconds kMostTimeLeft = std::chrono::hours(1000);  // guess: longer ones say nothing

/// The less it is wanted, the greater its rank.
struct Part {
  int rank;
  std::string text;
};

/// 0 % before the first byte, and 100 % only after the last; none where there is more than was foretold.
std::optional<std::uint64_t> per_cent(const Amount& amount) {
  if (amount.all_bytes == 0 || amount.done_bytes > amount.all_bytes) return std::nullopt;
  return static_cast<std::uint64_t>(static_cast<long double>(amount.done_bytes) * 100 / amount.all_bytes);
}

std::string outage_text(const ProgressSnapshot& snapshot) {
  const std::string silence = silence_text(snapshot.now.stats);
  if (!snapshot.patience) return silence;
  return fmt::format("{}, giving up at {}", silence,
                     std::chrono::duration_cast<std::chrono::seconds>(*snapshot.patience).count());
}

std::string joined(const std::vector<Part>& parts) {
  std::string line;
  for (const Part& part : parts) line += (line.empty() ? "" : line.ends_with(']') ? " " : "  ") + part.text;
  return line;
}

std::string fitted(std::vector<Part> parts, std::size_t columns) {
  std::string line = joined(parts);
  for (; parts.size() > 1 && line.size() > columns; line = joined(parts))
    parts.erase(std::ranges::max_element(parts, {}, &Part::rank));
  return line;
}

}  // namespace

Progress Progress::of_whole_run() {
  Progress whole;
  whole.add({});
  return whole;
}

std::string Progress::line(const ProgressSnapshot& snapshot, std::size_t columns) {
  add(snapshot);
  const ConnectionStats& stats = snapshot.now.stats;
  const auto percent = snapshot.amount ? per_cent(*snapshot.amount) : std::nullopt;
  // Bytes of things are not those that went over the path.
  const bool is_of_many = snapshot.amount && !snapshot.amount->count.empty();
  std::vector<Part> parts;
  if (percent) parts.push_back({1, fmt::format("[{:3} %]", *percent)});
  parts.push_back({2, percent      ? fmt::format("{} of {}", core::format_size(snapshot.amount->done_bytes),
                                                 core::format_size(snapshot.amount->all_bytes))
                      : is_of_many ? core::format_size(snapshot.amount->done_bytes)
                                   : payload_text(stats)});
  if (stats.silence.count() > 0) {
    parts.push_back({0, outage_text(snapshot)});
    return fitted(std::move(parts), columns);
  }
  if (!snapshot.waits.empty()) {
    parts.push_back({0, snapshot.waits});
  } else {
    if (const auto now = rate(&Point::moved_bytes, kLeastOfRate, kRateWindow))
      parts.push_back({3, core::format_rate(*now)});
    const auto time_left = percent ? left(*snapshot.amount) : std::nullopt;
    parts.push_back({4, time_left ? clock_text(*time_left) + " left" : clock_text(snapshot.now.elapsed)});
  }
  if (stats.rtt) parts.push_back({5, rtt_text(stats)});
  // Of an end that receives they are a few of its own, and say little.
  if (stats.packets_sent > 0 && stats.bytes_sent >= stats.bytes_received)
    parts.push_back({6, fmt::format("{:.1f} % lost", lost_per_cent(stats))});
  if (is_of_many) parts.push_back({7, snapshot.amount->count});
  if (snapshot.amount && !snapshot.amount->name.empty()) parts.push_back({8, snapshot.amount->name});
  return fitted(std::move(parts), columns);
}

/// Bytes that moved before a silence say nothing of the rate after it.
void Progress::add(const ProgressSnapshot& snapshot) {
  if (snapshot.now.stats.silence.count() > 0) return points_.clear();
  const auto at = snapshot.now.elapsed;
  points_.push_back({at, payload_bytes(snapshot.now.stats), snapshot.amount ? snapshot.amount->done_bytes : 0});
  while (points_.size() > 2 && at - points_[1].at >= kTimeLeftWindow) points_.pop_front();
}

std::optional<BitRate> Progress::rate(std::uint64_t Point::*bytes, nanoseconds least, nanoseconds window) const {
  if (points_.empty()) return std::nullopt;
  const Point& last = points_.back();
  const auto first = std::ranges::find_if(points_, [&](const Point& each) { return last.at - each.at <= window; });
  const Point& from = first == points_.end() || last.at - first->at < least ? points_.front() : *first;
  if (last.at - from.at < least) return std::nullopt;
  // Statistics of several connections together can fall when one of them has gone.
  return BitRate::from_bytes_per(last.*bytes - std::min(last.*bytes, from.*bytes), last.at - from.at);
}

std::optional<nanoseconds> Progress::left(const Amount& amount) const {
  const auto now = rate(&Point::done_bytes, kLeastOfTimeLeft, kTimeLeftWindow);
  if (!now || now->bytes_per_second() == 0) return std::nullopt;
  const double time =
      static_cast<double>(amount.all_bytes - amount.done_bytes) / static_cast<double>(now->bytes_per_second());
  if (time > std::chrono::duration<double>(kMostTimeLeft).count()) return std::nullopt;
  return std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>(time));
}

}  // namespace udtcat::tool
