#include <csignal>
#include <tuple>

#include <sys/prctl.h>
#include <unistd.h>

#include "bridge/die_with.hpp"

namespace udtcat::bridge {

bool die_with(pid_t parent) {
  std::ignore = ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // fails for no valid signal
  return ::getppid() == parent;
}

}  // namespace udtcat::bridge
