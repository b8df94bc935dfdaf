// SPDX-License-Identifier: Apache-2.0
#include "tool/run/session_run.hpp"

#include <csignal>

#include <fmt/format.h>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include "lib/core/log.hpp"
#include "lib/core/user_text.hpp"
#include "tool/status/peer_totals.hpp"
#include "tool/status/service_manager.hpp"
#include "tool/status/why_text.hpp"

namespace udtcat::tool {

namespace {

constexpr std::chrono::milliseconds kSignalledDestructorGrace{300};  // spec: docs/man/udtcat.1, SIGNALS
constexpr std::chrono::milliseconds kDestructorGrace{2'000};  // guess: no destructor waits longer unless it hangs

constexpr const char* kNothingToReload =
    "there is nothing to read again: a new key, and other options, need a restart (systemctl restart)";

const char* name_of_signal(int signal) {
  if (signal == SIGHUP) return "SIGHUP";
  return signal == SIGTERM ? "SIGTERM" : "SIGINT";
}

/// kind   in use
/// none: the system's, which it does not tell
std::optional<CongestionKind> congestion_of(TransportKind kind, const TransportOptions& transport) {
  if (kind == TransportKind::tcp) return std::nullopt;
  return kind == TransportKind::libudt ? CongestionKind::udt : transport.congestion;
}

}  // namespace

SessionRun::SessionRun(const Options& options, Console& console, const ExitPolicy& exit_policy)
    : work_(boost::asio::make_work_guard(io_)),
      console_(console),
      transport_(options.transport),
      is_via_(options.via.has_value()),
      protection_(options.session.protection),
      exit_policy_(exit_policy),
      stats_json_(options.stats_json),
      verbosity_(options.verbosity),
      ticker_(io_, console, options),
      says_summary_(ticker_.shows_progress() || options.verbosity > 0),
      says_why_(options.why),
      publisher_(io_, console, options),
      peer_timer_(io_),
      interrupt_timer_(io_),
      dates_timer_(io_),
      signals_([this](int signal) { boost::asio::post(io_, [this, signal] { on_signal(signal); }); },
               exit_policy.signal_grace) {
  if (ready_) ready_ = publisher_.open();
  if (!ready_) finish(ready_.error());
}

void SessionRun::say(const std::string& what) {
  if (verbosity_ >= 0) console_.line("udtcat: " + what);
}

void SessionRun::log_transfer(const TransferOutcome& transfer) {
  LogEvent event = transfer_event(transfer);
  if (!console_.is_log()) return observe_event(event);  // the summary says it
  has_logged_transfer_ = true;
  event.severity = transfer.result ? Severity::notice : Severity::info;
  log_event(event);
}

void SessionRun::say_if_by_tcp(const ConnectionStats& stats, const std::string& host, std::uint16_t port) {
  if (transport_.kind != TransportKind::automatic || stats.transport != TransportKind::tcp) return;
  if (std::exchange(has_said_tcp_, true)) return;
  if (is_via_)
    return say(
        "no datagram passes between the ends: TCP carries the session, which is slower where the path loses "
        "packets; let UDP through from both to the meeting place");
  say(
      fmt::format("no answer by UDP from {}: TCP carries the session, which is slower where the path loses packets; "
                  "let UDP port {} through to it",
                  host, port));
}

void SessionRun::expect_peer_within(std::chrono::milliseconds timeout) {
  peer_timer_.expires_after(timeout);
  peer_timer_.async_wait([this, timeout](const boost::system::error_code& cancelled) {
    if (cancelled || ticker_.watches()) return;
    finish(Error{Errc::cannot_reach, "wait for a peer", "nobody came in within " + core::format_duration(timeout)});
  });
}

void SessionRun::watch(std::function<ConnectionStats()> stats) {
  peer_timer_.cancel();
  ticker_.watch(std::move(stats));
}

void SessionRun::watch_peer(std::function<PeerSnapshot()> peer) {
  PeerSnapshot first = peer();
  peer_ = std::move(first.address);
  peer_name_ = std::move(first.name);
  watch([peer] { return peer().stats; });
  PeerTotals totals;
  totals.come(peer_name_);
  publish([peer = std::move(peer), totals = std::move(totals)](ProcessSnapshot& snapshot) {
    snapshot.peers = {peer()};
    snapshot.all = snapshot.peers.front().stats;
    totals.add_to(snapshot);
  });
}

void SessionRun::publish(StatusPublisher::Source source) {
  if (state_ == State::finished) return;  // what it needs could not be opened: it is in no service
  // A reload by the service manager must not end a service that has nothing to read again.
  if (has_service_manager() && reloads_.empty()) on_reload([this] { say(kNothingToReload); });
  publisher_.publish(std::move(source));
}

void SessionRun::on_reload(std::function<void()> action) {
  reloads_.push_back(std::move(action));
  signals_.handle_hangup();
}

void SessionRun::keep_current(std::shared_ptr<PeersFile> peers) {
  if (!peers) return;
  watch_dates(peers);
  on_reload([this, peers = std::move(peers)] {
    const auto read = peers->reload();
    LogEvent event{.kind = EventKind::reload};
    event.severity = read ? Severity::notice : Severity::error;
    event.message = read ? *read : read.error().message() + "; the peers stay as they were read before";
    event.result = read ? kComplete : read.error().message();
    log_event(event);
    if (read) watch_dates(peers);
  });
}

void SessionRun::watch_dates(const std::shared_ptr<PeersFile>& peers) {
  dates_timer_.cancel();
  const auto again = peers->look_at_dates();
  if (!again) return;
  dates_timer_.expires_after(*again);
  dates_timer_.async_wait([this, peers](const boost::system::error_code& cancelled) {
    if (!cancelled) watch_dates(peers);
  });
}

void SessionRun::on_signal(int signal) {
  if (signal == SIGUSR1 && exit_policy_.as_ssh) signal = SIGTERM;
  if (signal == SIGUSR1) return tell_progress();
  if (state_ != State::running) return;
  if (signal == SIGHUP && !reloads_.empty())
    return publisher_.reload([this] {
      for (const auto& action : reloads_) action();
    });
  state_ = State::interrupted;
  publisher_.stopping();
  signal_ = signal;
  error_ = Error{Errc::interrupted, "interrupted", fmt::format("by {}", name_of_signal(signal))};
  status_ = exit_status_of_signal(signal);
  if (!tell_peers_) return finish(error_);
  interrupt_timer_.expires_after(exit_policy_.tell_peers_grace);
  interrupt_timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled) finish(error_);
  });
  tell_peers_(*error_);
}

/// The statistics are from the beginning on; the diagnosis is of the time since the last SIGUSR1, or since the present
/// connection was made.
void SessionRun::tell_progress() {
  console_.line("udtcat: " + ticker_.state_text());
  if (!ticker_.watches()) return;
  const ConnectionStats now = ticker_.sample().stats;
  const ConnectionStats before = std::exchange(at_last_request_, now);
  const bool same_connection = before.made_at == now.made_at;
  const DiagnosisText limited_by = why_since(same_connection ? before.ends : BothEndsStats(), now.ends);
  console_.line("udtcat: " + with_pair(limited_by.text, now));
}

void SessionRun::finish(std::optional<Error> error) {
  if (state_ == State::finished) return;
  if (state_ == State::running) {
    status_ = error ? exit_policy_.failure.value_or(exit_status_of(error->code)) : ExitStatus::success;
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
  publisher_.begin();
  try {
    if (state_ != State::finished) io_.run();
  } catch (const boost::system::system_error& error) {  // of Asio, where there are no descriptors
    finish(Error{Errc::out_of_resources, "go on", core::errno_text(error.code().value())});
  }
  conclude();
  // The destructors let the last frames reach the peer; after a signal they have less time.
  signals_.end_process_after(signal_ != 0 ? kSignalledDestructorGrace : kDestructorGrace, status_);
  return status_;
}

void SessionRun::conclude() {
  const bool has_peer = ticker_.watches();
  const Sample end = has_peer ? ticker_.sample() : Sample{};
  publisher_.end();
  console_.clear_status();
  // The user who sent a signal knows why it ends.
  const bool is_unknown = error_ && signal_ == 0;
  // systemd says in the journal that a service has ended.
  if (is_unknown || console_.as_json() || (console_.is_log() && !console_.for_journal())) say_end(is_unknown);
  const bool is_cut = signal_ != 0 || status_ == ExitStatus::peer_lost;
  const bool has_moved = has_peer && payload_bytes(end.stats) > 0;
  const bool says_moved = is_cut && has_moved && exit_policy_.says_moved_when_cut && verbosity_ >= 0;
  if (says_moved || (says_summary_ && has_peer && !has_logged_transfer_ && (has_moved || !is_cut)))
    console_.line("udtcat: " + summary_line(end));
  if (is_cut && has_moved && exit_policy_.how_to_go_on != nullptr) say(exit_policy_.how_to_go_on);
  const DiagnosisText limited_by = why_since({}, end.stats.ends);
  if (says_why_ && has_peer) console_.line("udtcat: " + with_pair(limited_by.text, end.stats));
  if (!stats_json_) return;
  const TransportKind transport = has_peer ? end.stats.transport : transport_.kind;
  console_.object(to_json({.end = end,
                           .cpu = process_cpu_time(),
                           .transport = transport == TransportKind::automatic ? std::nullopt : std::optional(transport),
                           .congestion = congestion_of(transport, transport_),
                           .protection = protection_,
                           .peer = peer_,
                           .peer_name = peer_name_,
                           .exit_status = status_,
                           .exit_reason = error_ ? describe(*error_) : "complete",
                           .limited_by = limited_by}));
  core::log().set_level(spdlog::level::off);  // the object stays the last line
  set_event_sink({});
}

/// The end of the process, as an event; also for a log of which nobody has seen the signal.
void SessionRun::say_end(bool is_error) {
  LogEvent event{.kind = EventKind::exit, .exit_status = to_int(status_)};
  event.result = error_ ? describe(*error_) : kComplete;
  if (is_error) {
    event.severity = Severity::error;
    event.message = *event.result;
  } else {
    event.severity = signal_ != 0 ? Severity::notice : Severity::info;
    event.message = signal_ != 0 ? fmt::format("stopped by {}", name_of_signal(signal_))
                                 : fmt::format("ended with exit status {}", to_int(status_));
  }
  if (is_error) return console_.event(event);
  log_event(event);
}

std::string SessionRun::describe(const Error& error) const {
  std::string text = error.message();
  // The peer is named, for logs with lines about many peers.
  const bool about_peer =
      exit_status_of(error.code) == ExitStatus::peer_lost || exit_status_of(error.code) == ExitStatus::tampered;
  if (about_peer && !peer_.empty() && text.find(peer_) == std::string::npos) text += fmt::format(" (peer {})", peer_);
  return text;
}

}  // namespace udtcat::tool
