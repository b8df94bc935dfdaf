// SPDX-License-Identifier: Apache-2.0
/// The end of a remote command at which its user is. Streams and messages: docs/spec/rsh.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include <udtcat/connection.hpp>
#include <udtcat/result.hpp>

#include "lib/core/lifetime.hpp"
#include "rsh/control_channel.hpp"

namespace udtcat::rsh {

/// How a remote command ended: the last message about it.
struct CommandExit {
  std::optional<int> status;  ///< none: a signal ended it
  std::string signal_name;    ///< of that signal
};

/// Asks for a command on a connection and bridges our standard descriptors to its.
/// Threads: confined to the io_context thread. The handler is called there, once, not after destruction.
class NearEnd {
 public:
  /// errors: what kept the command from running (Errc::remote_connect_failed), what cut it off, or what kept its output
  /// from being written here (Errc::local_write_failed)
  using EndHandler = std::function<void(Result<CommandExit>)>;

  NearEnd(boost::asio::io_context& io, std::unique_ptr<Connection> connection, EndHandler on_end);

  /// Once. `request` is a RunCommand or RunSubsystem.  errors: Errc::out_of_resources
  [[nodiscard]] Status start(const ssh::ControlMessage& request, bool reads_input);
  void deliver(const std::string& signal_name) { control_.send(ssh::DeliverSignal{signal_name}); }
  void abort(const Error& why) { connection_->abort(why); }

  [[nodiscard]] Connection& connection() { return *connection_; }

 private:
  void on_message(const ssh::ControlMessage& message);
  void on_output_over(const std::optional<Error>& error);
  void end_when_complete();
  void end(Result<CommandExit> result);

  boost::asio::io_context& io_;
  EndHandler on_end_;
  ControlChannel control_;
  std::optional<Result<CommandExit>> reported_;  // by the peer
  std::optional<Error> output_error_;            // of stdout
  int open_outputs_ = 2;                         // stdout and stderr, whose last byte has not been taken
  const std::unique_ptr<Connection> connection_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::rsh
