#include "tool/process_hardening.hpp"

#include <algorithm>
#include <csignal>
#include <tuple>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/core/dumps.hpp"

namespace udtcat::tool {

void fill_standard_descriptors() {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
    if (::fcntl(number, F_GETFD) >= 0) continue;
    // open() takes the lowest free number, which is this one. The wrong direction on purpose: bytes for a closed stdout
    // are not delivered, and must not seem so.
    const int direction = number == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    std::ignore = ::open("/dev/null", direction);  // without /dev/null it stays closed, and fails as well
  }
}

std::uint64_t harden_process(bool starts_programs) {
  const std::uint64_t before = core::forbid_core_dumps(!starts_programs);
  std::ignore = ::signal(SIGPIPE, SIG_IGN);
  std::ignore = ::signal(SIGXFSZ, SIG_IGN);  // a file that may grow no more is a write that fails
  std::ignore = ::signal(SIGUSR1, SIG_IGN);
  core::forbid_tracing();
  return before;
}

void allow_descriptors(std::uint64_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, wanted);
  std::ignore = ::setrlimit(RLIMIT_NOFILE, &limit);  // then connections wait when there are no more
}

}  // namespace udtcat::tool
