#include <cerrno>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gridftp/files/open_beneath.hpp"

namespace udtcat::gridftp {

bridge::Descriptor open_beneath(int root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags) | O_CLOEXEC | ((flags & O_PATH) != 0 ? 0U : unsigned{O_NONBLOCK});
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  // A rename on the way makes the kernel unsure, and it says so; spec: openat2(2).
  constexpr int kTries = 16;
  for (int tried = 0; tried < kTries; ++tried) {
    const long number = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
    if (number >= 0) return bridge::Descriptor(static_cast<int>(number));
    if (errno != EAGAIN && errno != EINTR) break;
  }
  return {};
}

}  // namespace udtcat::gridftp
