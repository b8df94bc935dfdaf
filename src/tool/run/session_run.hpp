// SPDX-License-Identifier: Apache-2.0
/// Shared by all commands that talk to a peer: the loop, signals, progress, the last lines and the exit status.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/connection.hpp>
#include <udtcat/result.hpp>

#include "lib/net/event_loop.hpp"
#include "tool/cli/console.hpp"
#include "tool/cli/exit_status.hpp"
#include "tool/cli/options.hpp"
#include "tool/cli/signal_watch.hpp"
#include "tool/identity/peers_file.hpp"
#include "tool/run/progress_ticker.hpp"
#include "tool/run/transfer_event.hpp"
#include "tool/status/snapshot.hpp"
#include "tool/status/status_publisher.hpp"

namespace udtcat::tool {

struct ExitPolicy {
  std::optional<ExitStatus> failure{};              ///< the exit status of every error; none: that of the error
  std::chrono::milliseconds tell_peers_grace{400};  ///< spec: docs/man/udtcat.1, SIGNALS
  std::chrono::milliseconds signal_grace = kSignalGrace;
  bool says_moved_when_cut = false;
  const char* how_to_go_on = nullptr;  ///< the last line of a run that was cut after some bytes had moved; null: none
  bool as_ssh = false;                 ///< SIGUSR1 ends the run: rsync ends its remote shell by it
};

inline constexpr const char* kSameCommand = "the same command goes on where this one was cut";

/// How long a program that runs for a peer may take to end after a signal to this process.
// spec: docs/spec/rsh.md §5: until SIGKILL, and a little
inline constexpr std::chrono::milliseconds kChildGrace{1'500};

/// A command sets its run up, and calls run(), which lasts until finish().
///
///   running ── finish() ──────────────────────────────► finished
///      └── signal ─► interrupted ── finish() or 400 ms ──┘
///
/// Threads: confined to the main thread, which runs the io_context.
class SessionRun {
 public:
  /// Metrics are served from now on, where the options ask for them. Where they cannot be, or there is no event loop,
  /// the run ends with its start, and why is its error.
  SessionRun(const Options& options, Console& console, const ExitPolicy& exit_policy = {});

  [[nodiscard]] boost::asio::io_context& io() { return io_; }
  [[nodiscard]] Console& console() { return console_; }

  [[nodiscard]] ProgressTicker& progress() { return ticker_; }
  /// Prints a line unless the user wants errors only.
  void say(const std::string& what);

  /// The run's only transfer has ended: it is logged, in place of the summary, where the lines are a log. The run's end
  /// says its error.
  void log_transfer(const TransferOutcome& transfer);

  /// Of a dialler, once: its session goes over TCP since nobody answered by UDP.
  /// host   as the user wrote it
  void say_if_by_tcp(const ConnectionStats& stats, const std::string& host, std::uint16_t port);

  /// Ends the run with Errc::cannot_reach unless watch() is called before `timeout` is over.
  void expect_peer_within(std::chrono::milliseconds timeout);
  /// Progress and statistics are those of `stats` from now on, which is called until the run has ended.
  void watch(std::function<ConnectionStats()> stats);
  /// watch() and publish() of the only peer, which the last lines name.
  void watch_peer(std::function<PeerSnapshot()> peer);
  /// watch_peer() of the peer of a connection, which must outlive the run.
  template <typename AnyConnection>
  void watch_connection(AnyConnection& connection) {
    watch_peer([&connection] { return snapshot_of(1, connection); });
  }
  /// watch_connection() of the only connection: a signal aborts it.
  template <typename AnyConnection>
  void follow(AnyConnection& connection) {
    watch_connection(connection);
    on_interrupt([&connection](const Error& why) { connection.abort(why); });
  }
  /// From now on the process answers `udtcat status`. `source` is called until the run has ended.
  void publish(StatusPublisher::Source source);
  /// SIGHUP calls `reload`, and those of earlier calls, instead of ending the run. Under a service manager it ends no
  /// run that is shown.
  void on_reload(std::function<void()> reload);
  /// Called once, at the first signal: tells the peers, and calls finish() when they know.
  void on_interrupt(std::function<void(const Error& why)> tell_peers) { tell_peers_ = std::move(tell_peers); }

  /// The peers' file is read again by on_reload(), and its dates are looked at.  peers   none: there is no such file
  void keep_current(std::shared_ptr<PeersFile> peers);

  /// Ends run(): well, or with what went wrong. The first call counts.
  void finish(std::optional<Error> error);
  /// Ends run() with the exit status of a remote command.
  void finish_as(ExitStatus status);
  /// The signal that came; 0: none.
  [[nodiscard]] int signal() const { return signal_; }
  /// As finish() and run(), for an error before the start.
  [[nodiscard]] ExitStatus fail_to_start(Error error);
  /// Runs the io_context until finish(), says the last lines, and gives the status. After a signal it does not return
  /// but ends the process; otherwise the caller's destructors have two seconds.
  [[nodiscard]] ExitStatus run();

 private:
  enum class State { running, interrupted, finished };

  void on_signal(int signal);
  void watch_dates(const std::shared_ptr<PeersFile>& peers);
  void tell_progress();
  void conclude();
  void say_end(bool is_error);
  [[nodiscard]] std::string describe(const Error& error) const;

  boost::asio::io_context io_;
  // Before any timer is made. Signals are taken: ChildProcess waits for SIGCHLD.
  Status ready_ = net::prepare_event_loop(io_, net::LoopSignals::taken);
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  Console& console_;
  const TransportOptions transport_;
  const bool is_via_;
  const Protection protection_;
  const ExitPolicy exit_policy_;
  const bool stats_json_;
  const int verbosity_;
  ProgressTicker ticker_;
  const bool says_summary_;
  const bool says_why_;
  StatusPublisher publisher_;
  boost::asio::steady_timer peer_timer_;
  boost::asio::steady_timer interrupt_timer_;
  boost::asio::steady_timer dates_timer_;

  bool has_said_tcp_ = false;
  bool has_logged_transfer_ = false;
  State state_ = State::running;
  std::optional<Error> error_;  // none: the run has ended well
  ExitStatus status_ = ExitStatus::success;
  int signal_ = 0;  // that ended it

  std::string peer_;       // the address of the only peer; empty: there are several, or none
  std::string peer_name_;  // the name of its key pair; empty: it has none
  std::function<void(const Error&)> tell_peers_;
  std::vector<std::function<void()>> reloads_;  // empty: SIGHUP ends the run
  ConnectionStats at_last_request_;             // at the last SIGUSR1

  SignalWatch signals_;  // last: its thread uses the members above
};

}  // namespace udtcat::tool
