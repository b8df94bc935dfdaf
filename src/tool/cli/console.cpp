// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/console.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <udtcat/log.hpp>

#include "lib/core/printable.hpp"
#include "lib/core/user_text.hpp"
#include "tool/cli/signal_watch.hpp"

namespace udtcat::tool {

namespace {

constexpr std::chrono::milliseconds kLineTimeout{200};  // guess: a reader that is alive; less than a signal leaves
constexpr std::size_t kMaxAtOnceBytes = 4096;  // spec: PIPE_BUF; a pipe that polls as writable takes it without waiting

constexpr std::size_t kMaxStatusBytes = 1024;  // guess: of the widest window

constexpr std::string_view kOwnName = "udtcat: ";

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80; }

/// The first `columns` characters of printable text, each of which is taken for one column.
std::string_view first_columns(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0;
  for (std::size_t count = 0; bytes < text.size(); ++bytes)
    if (begins_character(text[bytes]) && ++count > columns) break;
  return text.substr(0, bytes);
}

}  // namespace

std::optional<std::size_t> Console::columns() const {
  winsize window{};
  if (::ioctl(descriptor_, TIOCGWINSZ, &window) != 0 || window.ws_col == 0) return std::nullopt;
  return window.ws_col - 1U;
}

void Console::name_host(std::string_view host) {
  const core::MutexLock lock(mutex_);
  name_ = core::printable(host, core::kShownBytes);
}

void Console::date_lines() {
  const core::MutexLock lock(mutex_);
  if (for_journal_ || ::isatty(descriptor_) == 1) return;
  dated_ = is_log_ = true;
}

void Console::date_lines_everywhere() {
  const core::MutexLock lock(mutex_);
  dated_ = true;
}

void Console::format_lines(LogFormat format, std::string_view service) {
  const core::MutexLock lock(mutex_);
  format_ = format;
  service_ = service;
  if (!service.empty()) name_ = service;
}

bool Console::as_json() const {
  const core::MutexLock lock(mutex_);
  return format_ == LogFormat::json;
}

bool Console::is_log() const {
  const core::MutexLock lock(mutex_);
  return is_log_ || for_journal_ || format_ == LogFormat::json;
}

void Console::line(std::string_view text, Severity level) {
  const core::MutexLock lock(mutex_);
  if (format_ == LogFormat::text) return write_line(text_line(text), level);
  if (text.starts_with(kOwnName)) text.remove_prefix(kOwnName.size());
  write_line(json_line(std::chrono::system_clock::now(), level, service_, text), level);
}

void Console::event(const LogEvent& event) {
  const core::MutexLock lock(mutex_);
  if (format_ == LogFormat::text) return write_line(text_line(std::string(kOwnName) + event.message), event.severity);
  write_line(json_line(std::chrono::system_clock::now(), service_, event), event.severity);
}

void Console::object(std::string_view json, Severity level) {
  const core::MutexLock lock(mutex_);
  write_line(json, level);
}

/// The journal knows our name and the time.
std::string Console::text_line(std::string_view text) const {
  if (!text.starts_with(kOwnName)) return std::string(text);
  const std::string_view said = text.substr(kOwnName.size());
  if (for_journal_) return std::string(said);
  const std::string time = dated_ ? local_time_text(std::chrono::system_clock::now()) + ' ' : "";
  return name_.empty() ? fmt::format("{}{}", time, text) : fmt::format("{}udtcat ({}): {}", time, name_, said);
}

void Console::write_line(std::string_view text, Severity level) {
  std::string output = clearing();
  if (for_journal_) output += fmt::format("<{}>", static_cast<int>(level));
  output += text;
  output += '\n';
  status_columns_ = 0;
  write(output, kLineTimeout);
}

void Console::status(std::string_view text) {
  if (for_journal_ || as_json()) return;
  const std::string clean = core::printable(text, kMaxStatusBytes);
  const std::string_view shown = first_columns(clean, columns().value_or(kMaxStatusBytes));
  const auto width = static_cast<std::size_t>(std::ranges::count_if(shown, begins_character));
  const core::MutexLock lock(mutex_);
  std::string output = "\r";
  output += shown;
  // Spaces over the rest of a longer line before: stderr may be a file, where a control sequence would be noise.
  if (status_columns_ > width) output.append(status_columns_ - width, ' ');
  status_columns_ = std::max(width, std::size_t{1});
  write(output, {});
}

void Console::clear_status() {
  const core::MutexLock lock(mutex_);
  write(clearing(), kLineTimeout);
  status_columns_ = 0;
}

std::string Console::clearing() const {
  // In a window that was made narrower, spaces must not go to the next line either.
  const std::size_t width = std::min(status_columns_, columns().value_or(kMaxStatusBytes));
  return status_columns_ == 0 ? std::string() : "\r" + std::string(width, ' ') + "\r";
}

void Console::write(std::string_view text, std::chrono::milliseconds timeout) {
  while (!text.empty()) {
    // A reader that did not take the last line is not waited for again.
    pollfd ready{descriptor_, POLLOUT, 0};
    const int ready_count = ::poll(&ready, 1, stuck_ ? 0 : static_cast<int>(timeout.count()));
    if (ready_count < 0 && errno == EINTR) continue;
    stuck_ = ready_count <= 0;
    if (stuck_) return;
    const ssize_t written = ::write(descriptor_, text.data(), std::min(text.size(), kMaxAtOnceBytes));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

namespace {

LogLevel level_of(int verbosity) {
  if (verbosity < 0) return LogLevel::error;
  if (verbosity == 0) return LogLevel::warn;
  if (verbosity == 1) return LogLevel::info;
  return verbosity == 2 ? LogLevel::debug : LogLevel::trace;
}

struct LevelFacts {
  const char* name;
  Severity severity;
};
/// In the order of LogLevel.
constexpr std::array<LevelFacts, 5> kLevels{{{"trace", Severity::debug},
                                             {"debug", Severity::debug},
                                             {"info", Severity::info},
                                             {"warning", Severity::warning},
                                             {"error", Severity::error}}};
const LevelFacts& facts_of(LogLevel level) { return kLevels.at(static_cast<std::size_t>(level)); }

}  // namespace

void install_stderr_log(Console& console, int verbosity) {
  // A person reads sentences; a developer wants to know when.
  const bool for_developers = verbosity >= 2 && !console.for_journal();
  if (for_developers) console.date_lines_everywhere();
  const bool names_levels = for_developers && !console.as_json();
  set_log_sink(level_of(verbosity), [&console, names_levels](LogLevel level, std::string_view text) {
    console.line(names_levels ? fmt::format("{}{}: {}", kOwnName, facts_of(level).name, text)
                              : fmt::format("{}{}", kOwnName, text),
                 facts_of(level).severity);
  });
  const Severity least = verbosity < 0                                                    ? Severity::error
                         : verbosity == 0 && !console.for_journal() && !console.as_json() ? Severity::notice
                                                                                          : Severity::info;
  set_event_sink([&console, least](const LogEvent& event) {
    if (event.severity <= least) console.event(event);
  });
}

Status print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return core::fail_by_errno(Errc::local_write_failed, "write to stdout");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

ExitStatus printed(std::string_view text, Console& console) {
  const UnblockedSignals meanwhile;
  const Status status = print(text);
  if (status) return ExitStatus::success;
  console.line("udtcat: " + status.error().message());
  return exit_status_of(status.error().code);
}

}  // namespace udtcat::tool
