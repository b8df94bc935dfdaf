#include "tool/standard_output.hpp"

#include <cerrno>

#include <unistd.h>

namespace udtcat::tool {

Status print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(Errc::local_write_failed, "write to stdout", errno_text(errno));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace udtcat::tool
