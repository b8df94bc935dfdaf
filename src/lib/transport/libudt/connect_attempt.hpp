// SPDX-License-Identifier: Apache-2.0
/// One call of Engine::async_connect.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/transport/engine.hpp"
#include "lib/transport/libudt/port_watch.hpp"
#include "lib/transport/libudt/runtime.hpp"
#include "lib/transport/libudt/udt_socket.hpp"

namespace udtcat::transport::libudt {

/// libudt's own attempt ends after 3 s in a way that its sockets do not survive. So each try is given up before that
/// and the next one has a socket, a port and an initial sequence number of its own, until the caller's patience is
/// over.
///
///   trying ──connected, port closed or patience over──► done        trying ──try too old──► trying
///
/// Threads: confined to the io_context's. Destroying it ends it without a call.
class ConnectAttempt {
 public:
  /// `on_done` is called once, and may destroy the attempt.
  using OnDone = std::function<void(ConnectAttempt&, Result<std::unique_ptr<Channel>>)>;

  ConnectAttempt(boost::asio::io_context& io, std::shared_ptr<Runtime> runtime, const Endpoint& peer,
                 const TransportOptions& options, std::chrono::milliseconds patience, OnDone on_done);
  ~ConnectAttempt();

 private:
  using Clock = std::chrono::steady_clock;

  struct Try {
    UdtSocket socket;
    std::shared_ptr<PortWatch> port_watch;
    Clock::time_point begun;
    std::chrono::system_clock::time_point begun_by_wall_clock;
  };

  void poll_after(std::chrono::milliseconds delay);
  void poll();
  [[nodiscard]] Result<Try> begin_try();
  void end_try();
  void finish(Result<std::unique_ptr<Channel>> result);
  void fail_with(std::string cause);

  boost::asio::io_context& io_;
  const std::shared_ptr<Runtime> runtime_;
  const Endpoint peer_;
  const BitRate rate_;
  const std::chrono::milliseconds idle_timeout_;
  const Clock::time_point give_up_;
  OnDone on_done_;
  boost::asio::steady_timer timer_;
  std::optional<Try> try_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::transport::libudt
