// SPDX-License-Identifier: Apache-2.0
/// Unix stream sockets: listening at a path, and connecting to one.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <system_error>

#include <sys/socket.h>
#include <sys/stat.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/result.hpp>

#include "lib/bridge/socket_acceptor.hpp"
#include "lib/core/lifetime.hpp"

namespace udtcat::bridge {

inline constexpr std::size_t kMaxUnixPathBytes = 107;  // spec: unix(7), sun_path, with its end

using UnixAcceptor = SocketAcceptor<boost::asio::local::stream_protocol>;

/// Listens at `path`. The socket of a process that has died is removed.
/// mode   of the socket's file, which says who may connect; less what the umask takes
/// errors: Errc::cannot_bind, also where somebody listens there, or where `path` is no socket
[[nodiscard]] Result<UnixAcceptor::Bound> bind_unix(boost::asio::io_context& io, const std::string& path,
                                                    mode_t mode = ACCESSPERMS);

/// Whether `path` is a socket at which nobody listens, as its process has died.
[[nodiscard]] bool is_left_over(const std::string& path);

/// The process at the other end, as the system knows it; none: it does not say.  spec: unix(7), SO_PEERCRED
[[nodiscard]] std::optional<ucred> peer_credentials(int socket);

/// One attempt to connect. Destroying it gives up without a call.
/// Threads: confined to the io_context thread, where the handler is called, which may destroy this.
class UnixConnect {
 public:
  using Handler = std::function<void(std::error_code, boost::asio::local::stream_protocol::socket)>;

  UnixConnect(boost::asio::io_context& io, const std::string& path, std::chrono::milliseconds timeout, Handler handler);

 private:
  void attempt();

  const boost::asio::local::stream_protocol::endpoint target_;
  const std::chrono::steady_clock::time_point deadline_;
  Handler handler_;
  boost::asio::local::stream_protocol::socket socket_;
  boost::asio::steady_timer timer_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::bridge
