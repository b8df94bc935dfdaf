/// Starts the far end by ssh and learns where it waits.
#pragma once

#include <cstddef>
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
#include "lib/core/lifetime.hpp"
#include "rsh/control_message.hpp"
#include "rsh/greeting.hpp"
#include "rsh/relay.hpp"

namespace udtcat::rsh {

/// A program that is sent to a far side which has none.
struct ProgramToPush {
  std::string path;
  std::string system;  ///< on which it runs: "Linux x86_64"
};

/// ssh, with the far end as its command, and our ends of that command's stdin and stdout.
///
///   greeting ── UDTCAT CONNECT ──► connected (on_connect) ── fall_back() ──► the command runs over ssh itself
///      │└─ UDTCAT MISSING, and a program to push: it is sent, and the greeting goes on
///      └─ the end of ssh, or of its output: failed (on_failure)
///
/// Threads: confined to the io_context thread. Handlers are called there, not after destruction, which leaves ssh its
/// own end: its stdin is closed.
class Bootstrap {
 public:
  struct Handlers {
    std::function<void(const ConnectLine&)> on_connect;
    /// Text on ssh's stdout that was not the far end's: for the user, not for the command's consumer.
    std::function<void(const std::string&)> on_noise;
    /// status   what ssh exited with, where it has
    std::function<void(const Error&, std::optional<int> status)> on_failure;
  };

  /// errors: Errc::local_connect_failed where there is no ssh; Errc::out_of_resources
  [[nodiscard]] static Result<std::unique_ptr<Bootstrap>> start(boost::asio::io_context& io,
                                                                const bridge::ChildRequest& ssh,
                                                                std::optional<ProgramToPush> push, Handlers handlers);
  ~Bootstrap();

  [[nodiscard]] pid_t ssh_pid() const { return ssh_->pid(); }
  /// Once, after on_connect: the command runs over ssh, with our stdin and stdout. `on_end` gets what ssh exits with.
  [[nodiscard]] Status fall_back(const ControlMessage& request, bool reads_input, std::function<void(int)> on_end);
  /// Asks ssh to end.
  void terminate() { ssh_->signal(SIGTERM); }

 private:
  Bootstrap(boost::asio::io_context& io, std::optional<ProgramToPush> push, Handlers handlers);
  void listen();
  void hear();
  void on_missing(const MissingLine& line);
  void send_program();
  void on_ssh_end(const bridge::ChildEnd& end);
  void fail_with(Error error);
  /// Writes all of `bytes` to ssh's stdin, then goes on.
  void tell_far_side(std::vector<std::byte> bytes, std::function<void()> then);
  void write_rest(std::span<const std::byte> rest);
  void give_up_relay();
  void finish_if_relayed();

  boost::asio::io_context& io_;
  const std::optional<ProgramToPush> push_;
  Handlers handlers_;
  GreetingReader greeting_;
  bool pushed_ = false;
  bool output_ended_ = false;
  std::optional<int> status_;
  std::function<void(int)> on_fallback_end_;
  std::unique_ptr<LocalStream> ssh_stream_;   // its stdout is read, its stdin written
  std::unique_ptr<LocalStream> user_stream_;  // ours, in the fallback
  std::unique_ptr<Relay> upwards_;
  std::unique_ptr<Relay> downwards_;
  bool downwards_ended_ = false;
  bool relay_failed_ = false;
  std::vector<std::byte> told_;  // what is being written to ssh's stdin
  std::function<void()> after_told_;
  std::unique_ptr<bridge::ChildProcess> ssh_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::rsh
