// SPDX-License-Identifier: Apache-2.0
/// A remote command that ssh itself carries, as there is no session.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>

#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>

#include "lib/bridge/relay.hpp"
#include "ssh/bootstrap.hpp"
#include "ssh/control_message.hpp"

namespace udtcat::rsh {

///   our stdin ──► ssh's stdin, our stdout ◄── ssh's stdout
///
/// Threads: confined to the io_context thread. The handler is called there, once, not after destruction.
class CommandOverSsh {
 public:
  /// on_end   gets what ssh exits with, or 255 where bytes of the command's input or output are missing
  CommandOverSsh(boost::asio::io_context& io, ssh::Bootstrap& ssh, std::function<void(int)> on_end)
      : io_(io), ssh_(ssh), on_end_(std::move(on_end)) {}

  /// Once. `request` is a RunCommand or RunSubsystem.
  /// errors: Errc::out_of_resources; those of command_line_of() where there is no udtcat there
  [[nodiscard]] Status start(const ssh::ControlMessage& request, bool reads_input);

 private:
  void relay();
  void on_output_over(const bridge::Relay::Outcome& outcome);
  void cut();
  void end_if_over();

  boost::asio::io_context& io_;
  ssh::Bootstrap& ssh_;
  std::function<void(int)> on_end_;
  std::unique_ptr<LocalStream> stdio_;
  std::unique_ptr<bridge::Relay> input_;
  std::unique_ptr<bridge::Relay> output_;
  bool is_output_over_ = false;
  std::optional<int> status_;  // of ssh
};

}  // namespace udtcat::rsh
