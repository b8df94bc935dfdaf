// SPDX-License-Identifier: Apache-2.0
/// A server's dialogue with one client.  spec: RFC 959, RFC 2389, RFC 3659; docs/spec/gridftp.md §4
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>

#include "gridftp/dialogue/control_connection.hpp"
#include "gridftp/server/served_transfers.hpp"
#include "gridftp/server/service.hpp"

namespace udtcat::gridftp {

/// Answers commands until the client leaves, is silent for too long, or close() is called.
/// Threads: confined to the io_context thread.
class ServedClient {
 public:
  using Clock = std::chrono::steady_clock;

  /// has_key   the client has proved it
  /// With nothing where the client took its leave (QUIT); else why it is gone.
  using EndHandler = std::function<void(const Status& how)>;

  /// on_gone   is called once, at the end
  ServedClient(boost::asio::io_context& io, std::unique_ptr<ControlConnection> control,
               std::shared_ptr<Service> service, bool has_key, EndHandler on_gone);
  ~ServedClient();
  ServedClient(const ServedClient&) = delete;
  ServedClient& operator=(const ServedClient&) = delete;

  void close();
  /// Ends the dialogue for a newcomer's sake: the client is told so, and this object need not be kept for that.
  void dismiss();
  [[nodiscard]] bool is_logged_in() const;
  /// Time since the client came, or since its last command was done; none: a command is under way.
  [[nodiscard]] std::optional<Clock::duration> idle() const;
  [[nodiscard]] ByteCounts moved() const;

 private:
  class Dialogue;
  const std::shared_ptr<Dialogue> dialogue_;  // shared with its coroutines
};

}  // namespace udtcat::gridftp
