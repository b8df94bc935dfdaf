// SPDX-License-Identifier: Apache-2.0
/// ssh as one more path of a session, at the near end.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/steady_timer.hpp>

#include <udtcat/connection.hpp>

#include "ssh/datagram_pipe.hpp"
#include "ssh/path_selector.hpp"
#include "ssh/ssh_dial.hpp"
#include "tool/run/session_run.hpp"

namespace udtcat::ssh {

/// Watches a session, and moves it between UDP and ssh's pipes as PathSelector decides. A far end that does not support
/// this does not answer in the pipes, and the session stays on UDP.
/// Threads: confined to the main thread.
class SshPath {
 public:
  /// host   for messages
  /// All of them outlive this.
  SshPath(tool::SessionRun& run, Connection& connection, SshDial& dial, const std::string& host);

  /// The session is over: updates the fallback cache. Its last datagrams are still carried.
  void conclude();

 private:
  void watch();
  [[nodiscard]] PathSelector::Sample sample() const;
  void apply(PathSelector::Decision decision);
  void to_ssh();
  void on_moved();
  void say_if_decided();
  void on_ssh_end();

  tool::SessionRun& run_;
  Connection& connection_;
  SshDial& dial_;
  const std::string& host_;
  PathSelector selector_;
  std::shared_ptr<DatagramPipe> pipe_;  // none: ssh has not been tried
  bool is_on_ssh_ = false;
  Evidence at_move_;       // of the path before the move
  bool has_said_ = false;  // that it is
  bool ssh_has_ended_ = false;
  boost::asio::steady_timer timer_;
};

}  // namespace udtcat::ssh
