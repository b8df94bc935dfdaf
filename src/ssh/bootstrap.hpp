// SPDX-License-Identifier: Apache-2.0
/// Starts the far end by ssh and learns where it waits.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>

#include "lib/bridge/child_process.hpp"
#include "lib/core/lifetime.hpp"
#include "ssh/greeting.hpp"
#include "ssh/pushed_program.hpp"
#include "ssh/ssh_stderr.hpp"

namespace udtcat::ssh {

inline constexpr int kSshFailed = 255;  // spec: ssh(1), EXIT STATUS: it has said why

/// How long a login may take to prove a shell by our script's first line.
struct LoginTimeouts {
  bool is_logged_in = false;                   ///< from the start: ssh uses the connection of another
  std::chrono::milliseconds silence{5'000};    ///< guess: of a login's own files, on a busy host
  std::chrono::milliseconds chatter{15'000};   ///< guess: of one that prints all the time
  std::chrono::milliseconds far_end{30'000};   ///< guess: of our script, until there is a far end
  std::chrono::milliseconds unknown{300'000};  ///< guess: twice sshd's LoginGraceTime, where ssh does not say when
};

/// ssh with the far end as its command, and that command's stdin and stdout.
///
///   greeting ── UDTCAT SCRIPT ──► scripted
///   scripted ── UDTCAT MISSING, a program to push ──► pushing ── all of it written ──► pushed
///   greeting, scripted, pushed ── UDTCAT CONNECT ──► connected (on_connect) ── hand_over() ──► handed over
///            ── UDTCAT MISSING with none to push, UDTCAT UNFIT ──► absent (on_absent) ── hand_over() ──► handed over
///   pushing, pushed ── UDTCAT HAVE (on_have) ──► the same
///   scripted, pushing, pushed ── any other line of the far end ──► failed (on_failure)
///   greeting ── the end of ssh's output ──► silent ── the end of ssh, before login ──► failed (on_failure)
///                                                  └── the end of ssh, after login ──► unusable (on_unusable_login)
///   scripted ── the end of ssh's output ──► unstarted ── the end of ssh ──► unusable (on_unusable_login)
///   greeting, scripted, silent, unstarted ── LoginTimeouts is over, we end ssh ──► unusable (on_unusable_login)
///   pushing, pushed ── the end of ssh's output ──► lost ── the end of ssh ──► failed (on_failure)
///   handed over ── the end of ssh ──► the end (on_end)
///
/// Threads: confined to the io_context thread. Handlers are called there, not after destruction, which leaves ssh its
/// own end: its stdin is closed.
class Bootstrap {
 public:
  struct Push {
    std::string system;            ///< there
    std::size_t packed_bytes = 0;  ///< of gzip, that are sent
    std::size_t bytes = 0;         ///< of the program
  };
  struct UnusableLogin {
    bool is_shell = false;      ///< our script began
    std::optional<int> status;  ///< of ssh; none: it was silent, and ended by us
  };
  struct Handlers {
    std::function<void(const ConnectLine&)> on_connect;
    /// There is no udtcat that runs; `cause` is advice.
    std::function<void(Error)> on_absent;
    std::function<void(const Push&)> on_push;
    /// So many of its bytes are there, unpacked: after on_push, each second.
    std::function<void(std::uint64_t bytes)> on_have;
    /// Text on ssh's stdout that was not the far end's: for the user, not for the command's consumer.
    std::function<void(const std::string&)> on_noise;
    /// The login did not run our script, or ended before a far end was there: no command was sent, ssh has ended, and
    /// its stderr was not shown to the user.
    std::function<void(const UnusableLogin&)> on_unusable_login;
    /// status   what ssh exited with, where it has
    std::function<void(const Error&, std::optional<int> status)> on_failure;
  };

  /// errors: Errc::local_connect_failed where there is no ssh; Errc::out_of_resources
  [[nodiscard]] static Result<std::unique_ptr<Bootstrap>> start(boost::asio::io_context& io,
                                                                const bridge::ChildRequest& ssh,
                                                                std::vector<PushedProgram> push, Handlers handlers,
                                                                const LoginTimeouts& timeout = {});
  ~Bootstrap();

  [[nodiscard]] pid_t ssh_pid() const { return ssh_->pid(); }
  [[nodiscard]] bool has_ended() const { return status_.has_value(); }
  /// Whether there is an udtcat there: true after on_connect, false after on_absent.
  [[nodiscard]] bool has_far_end() const { return state_ == State::connected; }
  /// Once, after on_connect or on_absent: `words`, a request or the script's answer, go to ssh's stdin. From then on
  /// pipes() are the caller's.
  /// on_end   gets what ssh exits with
  void hand_over(std::vector<std::byte> words, std::function<void()> on_sent, std::function<void(int)> on_end);
  /// After hand_over(); or after on_connect, for datagrams of the session.
  [[nodiscard]] LocalStream& pipes() { return *ssh_stream_; }
  /// Ends ssh, by signals where it has not ended within `grace`.
  /// on_ended   once it is gone; after some seconds also where it cannot die
  void end(std::chrono::milliseconds grace, std::function<void()> on_ended);

 private:
  enum class State {
    greeting,
    scripted,
    pushing,
    pushed,
    absent,
    silent,
    unstarted,
    lost,
    unusable,
    failed,
    connected,
    handed_over
  };

  Bootstrap(boost::asio::io_context& io, std::vector<PushedProgram> push, Handlers handlers,
            const LoginTimeouts& timeout);
  void on_login();
  void on_script();
  void give_up_at(std::chrono::steady_clock::time_point when);
  void give_up();
  void after(std::chrono::milliseconds wait, std::function<void()> step);
  void await_greeting();
  void read_greeting();
  void on_line(const GreetingReader::Line& words);
  void on_missing(const MissingLine& line);
  void push(const PushedProgram& fitting);
  void on_absent(std::string what, std::string cure);
  void on_output_end();
  void on_ssh_end(const bridge::ChildExit& end);
  void fail_with(const Error& error);
  /// Writes all of `bytes` to ssh's stdin; then calls `on_sent`.
  void send(std::vector<std::byte> bytes, std::function<void()> on_sent);
  void send_rest(std::span<const std::byte> rest);
  void on_gone();
  void conclude_if_over();

  boost::asio::io_context& io_;
  std::vector<PushedProgram> push_;
  Handlers handlers_;
  GreetingReader greeting_;
  const LoginTimeouts timeout_;
  std::optional<std::chrono::steady_clock::time_point> logged_in_at_;
  State state_ = State::greeting;
  std::optional<int> status_;                // what ssh exited with
  bool was_killed_ = false;                  // ssh, by a signal
  std::function<void(int)> on_end_;          // of hand_over()
  std::unique_ptr<LocalStream> ssh_stream_;  // its stdout is read, its stdin written
  std::vector<std::byte> outgoing_;          // what is being written to ssh's stdin
  std::function<void()> on_sent_;
  boost::asio::steady_timer login_timer_;
  boost::asio::steady_timer end_timer_;
  std::function<void()> on_ended_;  // of end()
  bool drained_ = false;            // what ssh has left in its pipes has come; another may hold them open
  std::unique_ptr<SshStderr> errors_;
  std::unique_ptr<bridge::ChildProcess> ssh_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::ssh
