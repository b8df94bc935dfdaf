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

#include "tool/cli/console.hpp"
#include "tool/cli/exit_status.hpp"
#include "tool/cli/options.hpp"
#include "tool/cli/signal_watch.hpp"
#include "tool/identity/peers_file.hpp"
#include "tool/status/figures.hpp"
#include "tool/status/picture.hpp"
#include "tool/status/progress.hpp"
#include "tool/status/reports.hpp"

namespace udtcat::tool {

struct ExitPolicy {
  std::optional<ExitStatus> failure{};              ///< the status of every error of ours; none: the error's own
  std::chrono::milliseconds tell_peers_grace{400};  ///< spec: docs/man/udtcat.1, SIGNALS
  std::chrono::milliseconds signal_grace = kSignalGrace;
  bool says_moved_when_cut = false;
  const char* how_to_go_on = nullptr;  ///< said of a run that was cut, behind what it has moved; null: nothing
  bool as_ssh = false;                 ///< SIGUSR1, by which rsync ends its remote shell, is an end
};

inline constexpr const char* kSameCommand = "the same command goes on where this one was cut";

/// The time that a program which we run for a peer has to end, from the signal that stops us.
// spec: docs/spec/rsh.md §5: until SIGKILL, and a little
inline constexpr std::chrono::milliseconds kChildGrace{1'500};

/// A command makes its parts, tells the run about them, and calls run(); whatever ends it calls finish().
///
///   running ── finish() ──────────────────────────────► finished
///      └── signal ─► interrupted ── finish() or 400 ms ──┘
///
/// Threads: confined to the main thread, which runs the io_context.
class SessionRun {
 public:
  using Clock = std::chrono::steady_clock;

  /// Whether a person watches progress, if the options do not say.
  [[nodiscard]] static bool person_watches(const Options& options);

  SessionRun(const Options& options, Console& console, const ExitPolicy& rules = {});

  [[nodiscard]] boost::asio::io_context& io() { return io_; }
  [[nodiscard]] Console& console() { return console_; }

  /// The run waits for something besides data; empty: no longer. Shown where a person watches progress; before there is
  /// a peer also where one sits at the terminal, once it takes long.
  void wait_for(std::string what);
  /// As wait_for(), for a program that may write to the same terminal: the status line stays there only while data
  /// move.
  void wait_for_program(std::string what);
  /// How much there is to move, where that is known: for progress. Called until the run has ended.
  void measure(std::function<std::optional<Amount>(const ConnectionStats&)> amount) { amount_ = std::move(amount); }
  /// Tells the user an event, unless he wants to read errors only.
  void say(const std::string& what);

  /// Ends the run with Errc::cannot_reach unless watch() is called before `timeout` is over.
  void expect_peer_within(std::chrono::milliseconds timeout);
  /// From now on progress and statistics are those of `figures`, which is called until the run has ended.
  void watch(std::function<ConnectionStats()> figures);
  /// As watch(), of a run with one peer, which is named, and shown as by show().
  void watch_peer(std::function<PeerPicture()> peer);
  /// As watch_peer(), of the peer of a connection, which must outlive the run.
  template <typename AnyConnection>
  void watch_connection(AnyConnection& connection) {
    watch_peer([&connection] { return picture_of(1, connection); });
  }
  /// As watch_connection(); a signal aborts the connection.
  template <typename AnyConnection>
  void follow(AnyConnection& connection) {
    watch_connection(connection);
    on_interrupt([&connection](const Error& why) { connection.abort(why); });
  }
  /// The process is in service: from now on it can be asked what it is doing. `fill` is called until the run has ended.
  void show(Reports::Fill fill);
  /// SIGHUP calls `reload`, and those of earlier calls, instead of ending the run. Under a service manager it ends no
  /// run that is shown.
  void on_reload(std::function<void()> reload);
  /// Called once, at the first signal: tells the peers, and calls finish() when they know.
  void on_interrupt(std::function<void(const Error& why)> tell_peers) { tell_peers_ = std::move(tell_peers); }

  /// on_reload() of the peers' file.  peers   none: there are none
  void keep_current(std::shared_ptr<PeersFile> peers);

  /// Ends run(): well, or with what went wrong. The first call counts.
  void finish(std::optional<Error> error);
  /// Ends run() with the status of a command that is not ours.
  void finish_as(ExitStatus status);
  /// The signal that came; 0: none.
  [[nodiscard]] int signal() const { return signal_; }
  /// As finish(), before run(): prints the error and gives the status.
  [[nodiscard]] ExitStatus fail_to_start(Error error);
  /// Runs the io_context until finish(), says the last lines, and gives the status. After a signal it does not return
  /// but ends the process; otherwise the caller's destructors have two seconds.
  [[nodiscard]] ExitStatus run();

 private:
  enum class State { running, interrupted, finished };

  void on_signal(int signal);
  void tick();
  void show_status();
  [[nodiscard]] std::uint64_t moved_bytes() const;
  void tell_progress();
  void conclude();
  [[nodiscard]] Sample sample() const;
  [[nodiscard]] ProgressPicture progress_picture() const;
  [[nodiscard]] std::string waiting_text() const;
  [[nodiscard]] std::string state_text() const;
  [[nodiscard]] std::string describe(const Error& error) const;

  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  Console& console_;
  const TransportOptions transport_;
  const Protection protection_;
  const ExitPolicy rules_;
  const std::chrono::milliseconds idle_timeout_;
  const bool stats_json_;
  const int verbosity_;
  const bool shows_progress_;
  const bool says_waiting_;
  const bool says_summary_;
  const bool says_why_;
  Reports reports_;
  boost::asio::steady_timer peer_timer_;
  boost::asio::steady_timer progress_timer_;
  boost::asio::steady_timer interrupt_timer_;

  State state_ = State::running;
  std::optional<Error> error_;  // why it ended, if not well
  ExitStatus status_ = ExitStatus::success;
  int signal_ = 0;  // that ended it

  std::string peer_;                          // its address; empty where there are several, or none
  std::string peer_name_;                     // by its key pair; empty where it has none
  std::function<ConnectionStats()> figures_;  // empty before there is a peer
  std::function<std::optional<Amount>(const ConnectionStats&)> amount_;
  /// A wait for a program that writes to the same terminal, where no line is left open under its words.
  struct ProgramWait {
    std::string untold;  // what a line of its own is to say once nothing moves; empty: it has been said
    std::uint64_t bytes_at_last_tick;
  };

  std::string waits_;
  std::optional<ProgramWait> program_;
  Clock::time_point waits_since_;
  std::function<void(const Error&)> tell_peers_;
  std::vector<std::function<void()>> reloads_;  // none: SIGHUP is an end
  Clock::time_point started_;
  bool ticks_ = false;
  Progress progress_;
  ConnectionStats at_last_request_;  // of SIGUSR1

  SignalWatch signals_;  // last: its thread calls into what stands above
};

}  // namespace udtcat::tool
