// SPDX-License-Identifier: Apache-2.0
#include "tool/status/process_cpu_time.hpp"

#include <tuple>

#include <sys/resource.h>

namespace udtcat::tool {

std::chrono::microseconds process_cpu_time() {
  rusage usage{};
  std::ignore = ::getrusage(RUSAGE_SELF, &usage);  // fails for no valid argument
  const auto time = [](const timeval& value) {
    return std::chrono::seconds(value.tv_sec) + std::chrono::microseconds(value.tv_usec);
  };
  return time(usage.ru_utime) + time(usage.ru_stime);
}

}  // namespace udtcat::tool
