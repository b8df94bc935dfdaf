// SPDX-License-Identifier: Apache-2.0
#include "lib/session/offload_policy.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <istream>
#include <string>
#include <utility>

namespace udtcat::session {

namespace {

constexpr const char* kTimes = "/proc/thread-self/schedstat";  // spec: proc(5)
constexpr int kMaxSampleGap = 5;                               // guess: times of a pause say nothing of a busy thread
constexpr double kBusy = 0.5;      // guess: of the time; a thread with less to do may wait without harm
constexpr double kCrowded = 0.25;  // measured: ADR-0035: of the time in which it could have run

}  // namespace

std::optional<SchedulerTimes> SchedulerTimes::read(std::istream& text) {
  std::int64_t had = 0;
  std::int64_t waited = 0;
  if (!(text >> had >> waited)) return std::nullopt;
  return SchedulerTimes{std::chrono::nanoseconds(had), std::chrono::nanoseconds(waited)};
}

std::optional<SchedulerTimes> SchedulerTimes::of_this_thread() {
  std::ifstream file(kTimes);
  return read(file);
}

std::optional<SchedulerTimes> SchedulerTimes::of_thread(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/schedstat");
  return read(file);
}

boost::asio::execution_context::id OffloadPolicy::id;

ThreadTime OffloadPolicy::thread_time(TimePoint now) {
  if (now - read_at_ < kReadInterval) return read_;
  read_at_ = now;
  if (const auto time = SchedulerTimes::of_this_thread()) read_ = time->thread_time();
  return read_;
}

void OffloadPolicy::sample(TimePoint now, std::optional<SchedulerTimes> times) {
  const auto before = std::exchange(times_, times);
  const std::chrono::duration<double> passed = now - std::exchange(sampled_at_, now);
  if (!offloads_ && now < inline_until_ && times) return;
  if (!std::exchange(offloads_, true) || !times || !before || passed > kMaxSampleGap * kSampleInterval) return;
  const std::chrono::duration<double> had = times->had - before->had;
  const std::chrono::duration<double> waited = times->waited - before->waited;
  offloads_ = had + waited < kBusy * passed || waited < kCrowded * (had + waited);
  if (!offloads_) inline_until_ = now + inline_period_;
  inline_period_ =
      offloads_ ? kFirstInlinePeriod : std::min<std::chrono::milliseconds>(2 * inline_period_, kLongestInlinePeriod);
}

}  // namespace udtcat::session
