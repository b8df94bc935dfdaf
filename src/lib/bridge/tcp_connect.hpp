// SPDX-License-Identifier: Apache-2.0
/// Connects to the first of several addresses that answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <system_error>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/endpoint.hpp>

#include "lib/core/lifetime.hpp"

namespace udtcat::bridge {

/// A race of its addresses: each begins when the one before has failed, or after net::kConnectionAttemptDelay.
/// Destroying it gives up without a call. Its socket closes as a reset from birth, as with GracefulClose::receipted, so
/// that a connection that its user has dropped does not look like an empty stream that has ended well.
/// Threads: confined to the io_context thread, where the handler is called, which may destroy this.
class TcpConnect {
 public:
  /// With a socket, or with why the last address failed.
  using Handler = std::function<void(std::error_code, boost::asio::ip::tcp::socket)>;

  /// `targets` is not empty. `timeout` is for all of them together.
  TcpConnect(boost::asio::io_context& io, const std::vector<Endpoint>& targets, std::chrono::milliseconds timeout,
             Handler handler);
  TcpConnect(const TcpConnect&) = delete;
  TcpConnect& operator=(const TcpConnect&) = delete;
  ~TcpConnect();

 private:
  using Attempts = std::list<boost::asio::ip::tcp::socket>;  // under way: no more than begin within the timeout

  void begin_next();
  void on_connected(Attempts::iterator attempt, const boost::system::error_code& error);
  void finish(std::error_code error, boost::asio::ip::tcp::socket socket);

  boost::asio::io_context& io_;
  const std::vector<Endpoint> targets_;
  Handler handler_;
  std::size_t begun_ = 0;
  Attempts attempts_;
  boost::asio::steady_timer delay_;
  boost::asio::steady_timer deadline_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::bridge
