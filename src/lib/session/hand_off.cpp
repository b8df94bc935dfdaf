// SPDX-License-Identifier: Apache-2.0
#include "lib/session/hand_off.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <istream>
#include <string>
#include <utility>

namespace udtcat::session {

namespace {

constexpr const char* kTimes = "/proc/thread-self/schedstat";  // spec: proc(5)
constexpr int kLookedAwayAfter = 5;                            // guess: times of a pause say nothing of a busy thread
constexpr double kBusy = 0.5;      // guess: of the time; a thread with less to do may wait without harm
constexpr double kCrowded = 0.25;  // measured: ADR-0035: of the time in which it could have run

}  // namespace

std::optional<CoreTime> CoreTime::read(std::istream& text) {
  std::int64_t had = 0;
  std::int64_t waited = 0;
  if (!(text >> had >> waited)) return std::nullopt;
  return CoreTime{std::chrono::nanoseconds(had), std::chrono::nanoseconds(waited)};
}

std::optional<CoreTime> CoreTime::of_this_thread() {
  std::ifstream file(kTimes);
  return read(file);
}

std::optional<CoreTime> CoreTime::of_thread(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/schedstat");
  return read(file);
}

boost::asio::execution_context::id HandOff::id;

ThreadTime HandOff::thread_time(TimePoint now) {
  if (now - read_at_ < kReadEvery) return read_;
  read_at_ = now;
  if (const auto time = CoreTime::of_this_thread()) read_ = time->thread_time();
  return read_;
}

void HandOff::look(TimePoint now, std::optional<CoreTime> times) {
  const auto before = std::exchange(times_, times);
  const std::chrono::duration<double> passed = now - std::exchange(looked_at_, now);
  if (!pays_ && now < kept_until_ && times) return;
  if (!std::exchange(pays_, true) || !times || !before || passed > kLookedAwayAfter * kLookEvery) return;
  const std::chrono::duration<double> had = times->had - before->had;
  const std::chrono::duration<double> waited = times->waited - before->waited;
  pays_ = had + waited < kBusy * passed || waited < kCrowded * (had + waited);
  if (!pays_) kept_until_ = now + keep_for_;
  keep_for_ = pays_ ? kKeepFor : std::min<std::chrono::milliseconds>(2 * keep_for_, kKeepAtMost);
}

}  // namespace udtcat::session
