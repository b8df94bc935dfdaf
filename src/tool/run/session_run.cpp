// SPDX-License-Identifier: Apache-2.0
#include "tool/run/session_run.hpp"

#include <cerrno>
#include <csignal>

#include <fmt/format.h>
#include <unistd.h>
#include <boost/asio/post.hpp>

#include "lib/core/log.hpp"
#include "lib/core/user_text.hpp"
#include "tool/status/figures.hpp"
#include "tool/status/service_manager.hpp"
#include "tool/status/why.hpp"

namespace udtcat::tool {

namespace {

constexpr std::chrono::milliseconds kProgressInterval{500};          // guess: calm to look at
constexpr std::chrono::milliseconds kWaitingNotice{1'000};           // guess: longer than most waits
constexpr std::chrono::milliseconds kSignalledDestructorGrace{300};  // spec: docs/man/udtcat.1, SIGNALS
constexpr std::chrono::milliseconds kDestructorGrace{
    2'000};  // guess: no destructor of ours waits longer when all is well

constexpr const char* kNothingToReload =
    "there is nothing to read again: a new key, and other options, need a restart (systemctl restart)";

const char* name_of_signal(int signal) {
  if (signal == SIGHUP) return "SIGHUP";
  return signal == SIGTERM ? "SIGTERM" : "SIGINT";
}

}  // namespace

bool SessionRun::person_watches(const Options& options) {
  if (options.verbosity < 0 || ::isatty(STDERR_FILENO) != 1) return false;
  // With stdin and stdout both at a terminal, people type to each other: progress would disturb them.
  return !options.is_chat || ::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1;
}

SessionRun::SessionRun(const Options& options, Console& console, const ExitPolicy& rules)
    : work_(boost::asio::make_work_guard(io_)),
      console_(console),
      transport_(options.transport),
      protection_(options.session.protection),
      rules_(rules),
      idle_timeout_(options.session.idle_timeout),
      stats_json_(options.stats_json),
      verbosity_(options.verbosity),
      shows_progress_(options.progress.value_or(person_watches(options))),
      says_waiting_(options.progress.value_or(options.verbosity >= 0 && ::isatty(STDERR_FILENO) == 1)),
      says_summary_(shows_progress_ || options.verbosity > 0),
      says_why_(options.why),
      reports_(io_, console, options),
      peer_timer_(io_),
      progress_timer_(io_),
      interrupt_timer_(io_),
      signals_([this](int signal) { boost::asio::post(io_, [this, signal] { on_signal(signal); }); },
               rules.signal_grace) {}

void SessionRun::wait_for(std::string what) {
  if (what == waits_) return;
  waits_ = std::move(what);
  waits_since_ = Clock::now();
  if (shows_progress_) return tick();
  if (figures_ || waits_.empty() || !says_waiting_) return;
  progress_timer_.expires_after(kWaitingNotice);
  progress_timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled && !figures_ && !waits_.empty()) console_.line("udtcat: " + waits_);
  });
}

void SessionRun::wait_for_program(std::string what) {
  if (what == waits_) return;
  program_ = {.untold = what, .bytes_at_last_tick = moved_bytes()};
  wait_for(std::move(what));
  console_.clear_status();
}

void SessionRun::say(const std::string& what) {
  if (verbosity_ >= 0) console_.line("udtcat: " + what);
}

void SessionRun::expect_peer_within(std::chrono::milliseconds timeout) {
  peer_timer_.expires_after(timeout);
  peer_timer_.async_wait([this, timeout](const boost::system::error_code& cancelled) {
    if (cancelled || figures_) return;
    finish(Error{Errc::cannot_reach, "wait for a peer", "nobody came in within " + core::format_duration(timeout)});
  });
}

void SessionRun::watch(std::function<ConnectionStats()> figures) {
  peer_timer_.cancel();
  figures_ = std::move(figures);
  waits_.clear();
  started_ = Clock::now();
  if (shows_progress_) tick();
}

void SessionRun::watch_peer(std::function<PeerPicture()> peer) {
  PeerPicture first = peer();
  peer_ = std::move(first.address);
  peer_name_ = std::move(first.name);
  watch([peer] { return peer().stats; });
  show([peer = std::move(peer)](ProcessPicture& picture) {
    picture.peers = {peer()};
    picture.all = picture.peers.front().stats;
  });
}

void SessionRun::show(Reports::Fill fill) {
  // A manager's reload of a service that has nothing to read again is no stop.
  if (has_service_manager() && reloads_.empty()) on_reload([this] { say(kNothingToReload); });
  reports_.show(std::move(fill));
}

void SessionRun::on_reload(std::function<void()> deed) {
  reloads_.push_back(std::move(deed));
  signals_.handle_hangup();
}

void SessionRun::keep_current(std::shared_ptr<PeersFile> peers) {
  if (!peers) return;
  on_reload([this, peers = std::move(peers)] {
    const auto read = peers->reload();
    if (read) return say(*read);
    core::log().error("{}; the peers stay as they were read before", read.error().message());
  });
}

void SessionRun::tick() {
  if (std::exchange(ticks_, true)) return;
  progress_timer_.expires_after(kProgressInterval);
  progress_timer_.async_wait([this](const boost::system::error_code& cancelled) {
    ticks_ = false;
    if (cancelled || state_ == State::finished) return;
    show_status();
    tick();
  });
}

void SessionRun::show_status() {
  if (!figures_) return console_.status(waiting_text());
  const std::uint64_t moved = moved_bytes();
  if (!program_ || std::exchange(program_->bytes_at_last_tick, moved) != moved)
    return console_.status(progress_.line(progress_picture(), console_.columns().value_or(kWholeLine)));
  if (program_->untold.empty()) return console_.clear_status();
  console_.line("udtcat: " + std::exchange(program_->untold, {}));
}

std::uint64_t SessionRun::moved_bytes() const {
  const ConnectionStats stats = figures_ ? figures_() : ConnectionStats();
  return stats.bytes_sent + stats.bytes_received;
}

std::string SessionRun::waiting_text() const {
  return waits_.empty() ? std::string() : fmt::format("{} ({})", waits_, clock_text(Clock::now() - waits_since_));
}

ProgressPicture SessionRun::progress_picture() const {
  ProgressPicture picture{.now = sample(), .amount = {}, .patience = idle_timeout_, .waits = waiting_text()};
  if (amount_) picture.amount = amount_(picture.now.stats);
  return picture;
}

/// The rate is that of the whole run.
std::string SessionRun::state_text() const {
  if (!figures_) return waits_.empty() ? "no peer yet" : waiting_text();
  return Progress::of_whole_run().line(progress_picture(), kWholeLine);
}

void SessionRun::on_signal(int signal) {
  if (signal == SIGUSR1 && rules_.as_ssh) signal = SIGTERM;
  if (signal == SIGUSR1) return tell_progress();
  if (state_ != State::running) return;
  if (signal == SIGHUP && !reloads_.empty())
    return reports_.reload([this] {
      for (const auto& deed : reloads_) deed();
    });
  state_ = State::interrupted;
  reports_.stopping();
  signal_ = signal;
  error_ = Error{Errc::interrupted, "interrupted", fmt::format("by {}", name_of_signal(signal))};
  status_ = exit_status_of_signal(signal);
  if (!tell_peers_) return finish(error_);
  interrupt_timer_.expires_after(rules_.tell_peers_grace);
  interrupt_timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled) finish(error_);
  });
  tell_peers_(*error_);
}

/// The figures are from the beginning on; the verdict is since the last SIGUSR1, or since the present connection was
/// made.
void SessionRun::tell_progress() {
  console_.line("udtcat: " + state_text());
  if (!figures_) return;
  const ConnectionStats now = figures_();
  const ConnectionStats before = std::exchange(at_last_request_, now);
  const bool same_connection = before.made_at == now.made_at;
  console_.line("udtcat: " + why_since(same_connection ? before.evidence : Evidence(), now.evidence).text);
}

void SessionRun::finish(std::optional<Error> error) {
  if (state_ == State::finished) return;
  if (state_ == State::running) {
    status_ = error ? rules_.failure.value_or(exit_status_of(error->code)) : ExitStatus::success;
    error_ = std::move(error);
  }
  state_ = State::finished;
  io_.stop();
}

void SessionRun::finish_as(ExitStatus status) {
  if (state_ == State::running) status_ = status;
  state_ = State::finished;
  io_.stop();
}

ExitStatus SessionRun::fail_to_start(Error error) {
  finish(std::move(error));
  return run();
}

ExitStatus SessionRun::run() {
  reports_.begin();
  if (state_ != State::finished) io_.run();
  conclude();
  // The destructors let the last frames reach the peer; after a signal they have less time.
  signals_.end_process_after(signal_ != 0 ? kSignalledDestructorGrace : kDestructorGrace, status_);
  return status_;
}

void SessionRun::conclude() {
  const Sample end = figures_ ? sample() : Sample{};
  reports_.end();
  console_.clear_status();
  // The user knows of a signal.
  const bool is_unknown = error_ && signal_ == 0;
  if (is_unknown) console_.line("udtcat: " + describe(*error_), Severity::error);
  const bool is_cut = signal_ != 0 || status_ == ExitStatus::peer_lost;
  const bool has_moved = figures_ && payload_bytes(end.stats) > 0;
  const bool says_moved = is_cut && has_moved && rules_.says_moved_when_cut && verbosity_ >= 0;
  if (says_moved || (says_summary_ && figures_ && (has_moved || !is_cut)))
    console_.line("udtcat: " + summary_line(end));
  if (is_cut && has_moved && rules_.how_to_go_on != nullptr) say(rules_.how_to_go_on);
  const Why limited_by = why_since({}, end.stats.evidence);
  if (says_why_ && figures_) console_.line("udtcat: " + limited_by.text);
  if (!stats_json_) return;
  console_.line(to_json({.end = end,
                         .cpu = process_cpu_time(),
                         .transport = transport_.kind,
                         .congestion = transport_.kind == TransportKind::libudt ? CongestionKind::udt  // its only one
                                                                                : transport_.congestion,
                         .protection = protection_,
                         .peer = peer_,
                         .peer_name = peer_name_,
                         .exit_status = status_,
                         .exit_reason = error_ ? describe(*error_) : "complete",
                         .limited_by = limited_by}));
  core::log().set_level(spdlog::level::off);  // the object stays the last line
}

Sample SessionRun::sample() const { return {figures_(), Clock::now() - started_}; }

std::string SessionRun::describe(const Error& error) const {
  std::string text = error.message();
  // The peer is named, for logs with lines about many peers.
  const bool about_peer =
      exit_status_of(error.code) == ExitStatus::peer_lost || exit_status_of(error.code) == ExitStatus::tampered;
  if (about_peer && !peer_.empty() && text.find(peer_) == std::string::npos) text += fmt::format(" (peer {})", peer_);
  return text;
}

}  // namespace udtcat::tool
