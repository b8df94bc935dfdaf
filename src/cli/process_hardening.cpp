#include "cli/process_hardening.hpp"

#include <csignal>
#include <tuple>

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

void harden_process() {
  const rlimit none{0, 0};
  std::ignore = ::setrlimit(RLIMIT_CORE, &none);  // lowering a limit is always allowed
  std::ignore = ::signal(SIGPIPE, SIG_IGN);
  std::ignore = ::signal(SIGUSR1, SIG_IGN);
  forbid_tracing();
}

}  // namespace udtcat::cli
