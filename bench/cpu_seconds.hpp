// SPDX-License-Identifier: Apache-2.0
/// The CPU time of a process so far.
#pragma once

#include <sys/resource.h>

/// User and system time of this process, all threads.
inline double cpu_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);  // fails for no valid argument
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}
