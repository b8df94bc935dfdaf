#include "tool/console.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <mutex>
#include <string_view>

#include <poll.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "lib/core/log.hpp"
#include "tool/signal_watch.hpp"

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
    // A reader that did not take the last line is not waited for again.
    pollfd ready{descriptor_, POLLOUT, 0};
    stuck_ = ::poll(&ready, 1, stuck_ ? 0 : patience_ms) <= 0;
    if (stuck_) return;
    const ssize_t written = ::write(descriptor_, text.data(), std::min(text.size(), kMostAtOnceBytes));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

namespace {

class ConsoleSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit ConsoleSink(Console& console) : console_(console) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t formatted;
    formatter_->format(message, formatted);
    std::string_view text(formatted.data(), formatted.size());
    if (text.ends_with('\n')) text.remove_suffix(1);
    console_.line(text);
  }
  void flush_() override {}

 private:
  Console& console_;
};

spdlog::level::level_enum level_of(int verbosity) {
  if (verbosity < 0) return spdlog::level::err;
  if (verbosity == 0) return spdlog::level::warn;
  if (verbosity == 1) return spdlog::level::info;
  return verbosity == 2 ? spdlog::level::debug : spdlog::level::trace;
}

}  // namespace

void install_stderr_log(Console& console, int verbosity) {
  auto logger = std::make_shared<spdlog::logger>("udtcat", std::make_shared<ConsoleSink>(console));
  logger->set_level(level_of(verbosity));
  // A person reads sentences; a developer wants to know when.
  logger->set_pattern(verbosity >= 2 ? "udtcat: %T.%e %l: %v" : "udtcat: %v");
  core::set_logger(std::move(logger));
}

Status print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(Errc::local_write_failed, "write to stdout", errno_text(errno));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

ExitStatus printed(std::string_view text, Console& console) {
  const SignalsLetThrough meanwhile;
  const Status status = print(text);
  if (status) return ExitStatus::success;
  console.line("udtcat: " + status.error().message());
  return exit_status_of(status.error().code);
}

}  // namespace udtcat::tool
