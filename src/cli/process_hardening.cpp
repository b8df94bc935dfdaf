#include "cli/process_hardening.hpp"

#include <algorithm>
#include <csignal>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace udtcat::cli {

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
  rlimit core{};
  std::ignore = ::getrlimit(RLIMIT_CORE, &core);  // fails for no valid limit
  const std::uint64_t before = std::exchange(core.rlim_cur, 0);
  if (!starts_programs) core.rlim_max = 0;
  std::ignore = ::setrlimit(RLIMIT_CORE, &core);  // lowering a limit is always allowed
  std::ignore = ::signal(SIGPIPE, SIG_IGN);
  std::ignore = ::signal(SIGXFSZ, SIG_IGN);  // a file that may grow no more is a write that fails
  std::ignore = ::signal(SIGUSR1, SIG_IGN);
  forbid_tracing();
  return before;
}

void allow_core_dumps(std::uint64_t limit_bytes) {
  rlimit core{};
  std::ignore = ::getrlimit(RLIMIT_CORE, &core);  // fails for no valid limit
  core.rlim_cur = std::min<rlim_t>(limit_bytes, core.rlim_max);
  std::ignore = ::setrlimit(RLIMIT_CORE, &core);  // up to the hard limit is always allowed
}

}  // namespace udtcat::cli
