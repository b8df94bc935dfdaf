// SPDX-License-Identifier: Apache-2.0
/// Connects to the first of several addresses that answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <system_error>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/endpoint.hpp>

#include "lib/core/lifetime.hpp"

namespace udtcat::bridge {

/// One attempt. Destroying it gives up without a call. Its socket closes as a reset from birth, as with
/// SocketEnd::receipted, so that a connection which its user has dropped does not look like an empty stream that has
/// ended well.
/// Threads: confined to the io_context thread, where the handler is called, which may destroy this.
class TcpConnect {
 public:
  /// With a socket, or with why the last address failed.
  using Handler = std::function<void(std::error_code, boost::asio::ip::tcp::socket)>;

  /// `targets` is not empty. Those left share the time left, so that one that is silent does not keep the next from
  /// being tried.
  TcpConnect(boost::asio::io_context& io, std::vector<Endpoint> targets, std::chrono::milliseconds patience,
             Handler handler);
  TcpConnect(const TcpConnect&) = delete;
  TcpConnect& operator=(const TcpConnect&) = delete;
  ~TcpConnect();

 private:
  void try_next();
  void on_connected(const boost::system::error_code& error);
  void on_time_over(std::size_t of);
  void finish(std::error_code error);

  const std::vector<Endpoint> targets_;
  const std::chrono::steady_clock::time_point deadline_;
  Handler handler_;
  std::size_t tried_ = 0;
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer timer_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::bridge
