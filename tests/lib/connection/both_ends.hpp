// SPDX-License-Identifier: Apache-2.0
/// Statistics to be diagnosed, for tests.
#pragma once

#include <chrono>
#include <string>

#include <udtcat/why_diagnosis.hpp>

namespace udtcat {

inline constexpr std::chrono::microseconds kTime = std::chrono::seconds(10);

inline std::chrono::microseconds& stalled(EndStats& end, StallReason why) {
  return end.stalled[static_cast<std::size_t>(why)];
}

/// A transfer without busy threads and losses, whose sender is held for so long by one thing.
inline BothEndsStats stalled_by(StallReason why, std::chrono::microseconds time = kTime) {
  using namespace std::chrono_literals;
  BothEndsStats made;
  made.here.elapsed = kTime;
  made.here.bytes_sent = 100'000'000;
  made.here.packets_sent = 70'000;
  made.here.path_rate = BitRate::from_bits_per_second(90'000'000);
  made.here.least_rtt = 40ms;
  made.here.rtt_sum = 41ms * 1000;
  made.here.rtt_samples = 1000;
  made.here.event_loop = {1s, 100ms};
  made.here.memory_bytes = 256 * kMiB;
  if (why == StallReason::cipher) made.here.cipher = {6s, 500ms};
  made.here.cipher_threads = 1;
  stalled(made.here, why) = time;
  made.there = EndStats{.elapsed = kTime, .bytes_received = 100'000'000, .event_loop = {1s, 100ms}};
  return made;
}

/// The same transfer as its receiver sees it.
inline BothEndsStats from_the_other_end(const BothEndsStats& ends) {
  return {.here = ends.there.value_or(EndStats{.elapsed = kTime, .bytes_received = 1}), .there = ends.here};
}

inline std::string word(const BothEndsStats& ends) { return std::string(word_of(diagnose(ends))); }

}  // namespace udtcat
