#include "bridge/descriptor.hpp"

namespace udtcat::bridge {

// POSIX has no way to a second description, so pipes are polled first and written in pieces that cannot block.
Descriptor reopen_non_blocking(int /*number*/, DescriptorKind /*kind*/, Half /*half*/) { return {}; }

void enlarge_pipe(int /*number*/) {}

// POSIX does not say what a pipe still holds: the end of what we know is that the system took every byte.
std::optional<std::error_code> consumer_verdict(int /*number*/, DescriptorKind /*kind*/) { return std::error_code{}; }

}  // namespace udtcat::bridge
