// SPDX-License-Identifier: Apache-2.0
#include "tool/run/progress_ticker.hpp"

#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace udtcat::tool {

namespace {

constexpr std::chrono::milliseconds kProgressInterval{500};  // guess: calm to look at
constexpr std::chrono::milliseconds kWaitingNotice{1'000};   // guess: longer than most waits

}  // namespace

bool ProgressTicker::person_watches(const Options& options) {
  if (options.verbosity < 0 || options.log_format == LogFormat::json || ::isatty(STDERR_FILENO) != 1) return false;
  // With stdin and stdout both at a terminal, people type to each other: progress would disturb them.
  return !options.is_chat || ::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1;
}

ProgressTicker::ProgressTicker(boost::asio::io_context& io, Console& console, const Options& options)
    : console_(console),
      idle_timeout_(options.session.idle_timeout),
      shows_progress_(options.log_format == LogFormat::text && options.progress.value_or(person_watches(options))),
      says_waiting_(options.progress.value_or(options.verbosity >= 0 && ::isatty(STDERR_FILENO) == 1)),
      timer_(io) {}

void ProgressTicker::wait_for(std::string what) {
  if (what == waits_) return;
  waits_ = std::move(what);
  waits_since_ = Clock::now();
  if (shows_progress_) return tick();
  if (watches() || waits_.empty() || !says_waiting_) return;
  timer_.expires_after(kWaitingNotice);
  timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled && !watches() && !waits_.empty()) console_.line("udtcat: " + waits_);
  });
}

void ProgressTicker::wait_for_program(std::string what) {
  if (what == waits_) return;
  program_ = {.untold = what, .bytes_at_last_tick = moved_bytes()};
  wait_for(std::move(what));
  console_.clear_status();
}

void ProgressTicker::watch(std::function<ConnectionStats()> stats) {
  stats_ = std::move(stats);
  waits_.clear();
  started_ = Clock::now();
  if (shows_progress_) tick();
}

void ProgressTicker::tick() {
  if (std::exchange(ticks_, true)) return;
  timer_.expires_after(kProgressInterval);
  timer_.async_wait([this](const boost::system::error_code& cancelled) {
    ticks_ = false;
    if (cancelled) return;
    show();
    tick();
  });
}

void ProgressTicker::show() {
  if (!watches()) return console_.status(waiting_text());
  const std::uint64_t moved = moved_bytes();
  if (!program_ || std::exchange(program_->bytes_at_last_tick, moved) != moved)
    return console_.status(progress_.line(snapshot(), console_.columns().value_or(kWholeLine)));
  if (program_->untold.empty()) return console_.clear_status();
  console_.line("udtcat: " + std::exchange(program_->untold, {}));
}

std::uint64_t ProgressTicker::moved_bytes() const {
  const ConnectionStats stats = watches() ? stats_() : ConnectionStats();
  return stats.bytes_sent + stats.bytes_received;
}

std::string ProgressTicker::waiting_text() const {
  return waits_.empty() ? std::string() : fmt::format("{} ({})", waits_, clock_text(Clock::now() - waits_since_));
}

ProgressSnapshot ProgressTicker::snapshot() const {
  ProgressSnapshot snapshot{.now = sample(), .amount = {}, .patience = idle_timeout_, .waits = waiting_text()};
  if (amount_) snapshot.amount = amount_(snapshot.now.stats);
  return snapshot;
}

std::string ProgressTicker::state_text() const {
  if (!watches()) return waits_.empty() ? "no peer yet" : waiting_text();
  return Progress::of_whole_run().line(snapshot(), kWholeLine);
}

}  // namespace udtcat::tool
