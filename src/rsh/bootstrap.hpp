// SPDX-License-Identifier: Apache-2.0
/// Starts the far end by ssh and learns where it waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>

#include "lib/bridge/child_process.hpp"
#include "lib/bridge/relay.hpp"
#include "lib/core/lifetime.hpp"
#include "rsh/control_message.hpp"
#include "rsh/greeting.hpp"
#include "rsh/pushed_program.hpp"

namespace udtcat::rsh {

/// ssh, with the far end as its command, and our ends of that command's stdin and stdout.
///
///   greeting ── UDTCAT MISSING, a program to push ──► pushing ── all of it written ──► pushed
///   greeting, pushed ── UDTCAT CONNECT ──► connected (on_connect) ── fall_back() ──► relaying
///            ── UDTCAT MISSING with none to push, UDTCAT UNFIT ──► absent (on_absent) ── fall_back() ──► relaying
///   pushing, pushed ── UDTCAT HAVE (on_have) ──► the same
///   greeting, pushing, pushed ── any other line of the far end ──► failed (on_failure)
///                              ── the end of ssh's output ──► silent ── the end of ssh ──► failed (on_failure)
///   relaying ── our stdin cannot be read, or our stdout not be written: ssh is asked to end ──► cut
///   relaying, cut ── the end of ssh's output, and of ssh ──► the end (on_end)
///
/// Threads: confined to the io_context thread. Handlers are called there, not after destruction, which leaves ssh its
/// own end: its stdin is closed.
class Bootstrap {
 public:
  struct Push {
    std::string system;            ///< there
    std::size_t packed_bytes = 0;  ///< that are sent
    std::size_t bytes = 0;         ///< of the program
  };
  struct Handlers {
    std::function<void(const ConnectLine&)> on_connect;
    /// There is no udtcat that runs; `cause` is advice.
    std::function<void(Error)> on_absent;
    /// A program is being sent there.
    std::function<void(const Push&)> on_push;
    /// So many of its bytes are there, unpacked: after on_push, each second.
    std::function<void(std::uint64_t bytes)> on_have;
    /// Text on ssh's stdout that was not the far end's: for the user, not for the command's consumer.
    std::function<void(const std::string&)> on_noise;
    /// status   what ssh exited with, where it has
    std::function<void(const Error&, std::optional<int> status)> on_failure;
  };

  /// errors: Errc::local_connect_failed where there is no ssh; Errc::out_of_resources
  [[nodiscard]] static Result<std::unique_ptr<Bootstrap>> start(boost::asio::io_context& io,
                                                                const bridge::ChildRequest& ssh,
                                                                std::optional<PushedProgram> push, Handlers handlers);
  ~Bootstrap();

  [[nodiscard]] pid_t ssh_pid() const { return ssh_->pid(); }
  /// Whether the far side can run it without a session: where there is no udtcat it cannot run what needs_udtcat().
  [[nodiscard]] bool can_run(const ControlMessage& request) const;
  /// Once, after on_connect or on_absent: the command runs over ssh, with our stdin and stdout.
  /// on_end   gets what ssh exits with
  /// errors: Errc::out_of_resources; those of command_line_of() after on_absent
  [[nodiscard]] Status fall_back(const ControlMessage& request, bool reads_input, std::function<void(int)> on_end);
  /// Asks ssh to end.
  void terminate() { ssh_->signal(SIGTERM); }

 private:
  enum class State { greeting, pushing, pushed, absent, silent, failed, connected, relaying, cut };

  Bootstrap(boost::asio::io_context& io, std::optional<PushedProgram> push, Handlers handlers);
  void await_greeting();
  void read_greeting();
  void on_words(const GreetingReader::Words& words);
  void on_missing(const MissingLine& line);
  void push(const std::string& system);
  void on_absent(std::string what, std::string cure);
  void on_output_end();
  void on_ssh_end(const bridge::ChildEnd& end);
  void fail_with(const Error& error);
  /// Writes all of `bytes` to ssh's stdin; then calls `on_sent`.
  void send(std::vector<std::byte> bytes, std::function<void()> on_sent);
  void send_rest(std::span<const std::byte> rest);
  void on_relayed(const bridge::Relay::Outcome& outcome);
  void cut_relay();
  void conclude_if_over();

  boost::asio::io_context& io_;
  std::optional<PushedProgram> push_;
  Handlers handlers_;
  GreetingReader greeting_;
  State state_ = State::greeting;
  std::optional<int> status_;  // what ssh exited with
  std::function<void(int)> on_fallback_end_;
  std::unique_ptr<LocalStream> ssh_stream_;   // its stdout is read, its stdin written
  std::unique_ptr<LocalStream> user_stream_;  // ours, in the fallback
  std::unique_ptr<bridge::Relay> upwards_;
  std::unique_ptr<bridge::Relay> downwards_;  // null once ssh's output has ended
  std::vector<std::byte> outgoing_;           // what is being written to ssh's stdin
  std::function<void()> on_sent_;
  std::unique_ptr<bridge::ChildProcess> ssh_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::rsh
