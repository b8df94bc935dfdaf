#include <cerrno>

#include "lib/bridge/descriptor.hpp"

namespace udtcat::bridge {

// POSIX has no way to a second description, so pipes are polled first and written in pieces that cannot block.
Descriptor reopen_non_blocking(int /*number*/, DescriptorKind /*kind*/, Half /*half*/) { return {}; }

// All that we open ourselves has FD_CLOEXEC already.
void close_on_exec_above(int /*number*/) {}

void enlarge_pipe(int /*number*/) {}

ssize_t read_without_waiting(int /*number*/, std::span<std::byte> /*into*/) {
  errno = EOPNOTSUPP;
  return -1;
}

ssize_t write_without_waiting(int /*number*/, std::span<const std::byte> /*from*/) {
  errno = EOPNOTSUPP;
  return -1;
}

// POSIX does not say what a pipe still holds: the end of what we know is that the system took every byte.
std::optional<std::error_code> consumer_verdict(int /*number*/, DescriptorKind /*kind*/) { return std::error_code{}; }

}  // namespace udtcat::bridge
