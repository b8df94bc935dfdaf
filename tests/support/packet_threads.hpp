// SPDX-License-Identifier: Apache-2.0
/// The threads that carry packets beside a listener's own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace udtcat::test {

/// The processor time that each of this process has had, in nanoseconds, by its number.
inline std::map<std::string, std::uint64_t> packet_thread_times() {
  std::map<std::string, std::uint64_t> times;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::ifstream(task.path() / "comm") >> name;
    if (name == "packets") std::ifstream(task.path() / "schedstat") >> times[task.path().filename()];
  }
  return times;
}

}  // namespace udtcat::test
