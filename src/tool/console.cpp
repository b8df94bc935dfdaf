#include "tool/console.hpp"

#include <algorithm>
#include <cerrno>

#include <poll.h>
#include <unistd.h>

namespace udtcat::tool {

namespace {

constexpr int kLinePatienceMs = 200;  // guess: a reader that is alive; below the time a signal leaves us
constexpr std::size_t kMostAtOnceBytes =
    4096;  // spec: PIPE_BUF; a pipe that polls as writable takes it without waiting

}  // namespace

void Console::line(std::string_view text) {
  const std::lock_guard lock(mutex_);
  std::string output = clearing();
  output += text;
  output += '\n';
  status_columns_ = 0;
  write(output, kLinePatienceMs);
}

void Console::status(std::string_view text) {
  const std::lock_guard lock(mutex_);
  std::string output = "\r";
  output += text;
  // Spaces over the rest of a longer line before: stderr may be a file, where a control sequence would be noise.
  if (status_columns_ > text.size()) output.append(status_columns_ - text.size(), ' ');
  status_columns_ = std::max(text.size(), std::size_t{1});
  write(output, 0);
}

void Console::clear_status() {
  const std::lock_guard lock(mutex_);
  write(clearing(), kLinePatienceMs);
  status_columns_ = 0;
}

std::string Console::clearing() const {
  return status_columns_ == 0 ? std::string() : "\r" + std::string(status_columns_, ' ') + "\r";
}

void Console::write(std::string_view text, int patience_ms) {
  while (!text.empty()) {
    // Who did not read the last line is not waited for again.
    pollfd ready{descriptor_, POLLOUT, 0};
    stuck_ = ::poll(&ready, 1, stuck_ ? 0 : patience_ms) <= 0;
    if (stuck_) return;
    const ssize_t written = ::write(descriptor_, text.data(), std::min(text.size(), kMostAtOnceBytes));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace udtcat::tool
