// SPDX-License-Identifier: Apache-2.0
#include "tool/status/process_resources.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace udtcat::tool {

namespace {

constexpr const char* kOwnDescriptors = "/proc/self/fd";

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");  // spec: proc(5): size, resident, in pages
  std::uint64_t size_pages = 0;
  std::uint64_t resident_pages = 0;
  file >> size_pages >> resident_pages;
  return resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t open_descriptors() {
  // spec: proc(5): since Linux 6.2 the directory's size is their number
  struct stat about {};
  if (::stat(kOwnDescriptors, &about) == 0 && about.st_size > 0) return static_cast<std::uint64_t>(about.st_size);
  std::uint64_t count = 0;
  std::error_code unreadable;
  for (std::filesystem::directory_iterator entry(kOwnDescriptors, unreadable), none; !unreadable && entry != none;
       entry.increment(unreadable))
    ++count;
  return count > 0 ? count - 1 : 0;  // one was open to count them
}

}  // namespace

ProcessResources process_resources() {
  rlimit limit{};
  const bool is_known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0;
  return {.memory_bytes = resident_bytes(),
          .open_descriptors = open_descriptors(),
          .max_descriptors = is_known ? std::uint64_t{limit.rlim_cur} : 0};
}

void release_freed_memory() {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds kAtMost{1};  // guess: milliseconds of work with a gigabyte
  static Clock::time_point last{};
  if (Clock::now() - last < kAtMost) return;
  ::malloc_trim(0);
  last = Clock::now();
}

}  // namespace udtcat::tool
