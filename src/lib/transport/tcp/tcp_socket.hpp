// SPDX-License-Identifier: Apache-2.0
/// TCP sockets: opened, bound and set up for a channel, and what is asked of them without waiting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

namespace udtcat::transport::tcp {

using Socket = boost::asio::ip::tcp::socket;
using ListenerSocket = boost::asio::ip::tcp::acceptor;

[[nodiscard]] boost::asio::ip::tcp::endpoint to_asio(const Endpoint& endpoint);

/// Small writes leave at once.
void set_no_delay(Socket& socket);
/// Small writes leave at once, the rate is capped by the system's pacing, a peer that is silent is asked.
void set_up(Socket& socket, const TransportOptions& options);
/// So many bytes, about, the system takes before it has sent them: what is written later waits for no more.
void limit_unsent(Socket& socket, std::uint64_t bytes);
/// A close is a reset, whatever is there to be sent: the peer cannot take it for an end.
void reset(Socket& socket);

/// Binds every endpoint, all on the port of the first, and listens.
/// errors   Errc::bad_argument without endpoints; Errc::cannot_bind; Errc::out_of_resources
[[nodiscard]] Result<std::vector<ListenerSocket>> listen_on_one_port(boost::asio::io_context& io,
                                                                     const std::vector<Endpoint>& locals);
[[nodiscard]] Endpoint local_of(const ListenerSocket& socket);

struct Received {
  enum class State { data, would_block, end, failed };
  State state = State::would_block;
  std::size_t bytes = 0;  ///< of data
  int errno_value = 0;    ///< of a failure
};
/// Without waiting; `into` is not empty.
[[nodiscard]] Received receive(Socket& socket, std::span<std::byte> into);

struct Sent {
  bool failed = false;
  std::size_t bytes = 0;  ///< that the system took
  int errno_value = 0;    ///< of a failure
};
inline constexpr std::size_t kMaxPieces = 64;  // guess: more blocks than are ever taken in one call
/// Without waiting; at most kMaxPieces.
[[nodiscard]] Sent send(Socket& socket, std::span<const std::span<const std::byte>> pieces);

}  // namespace udtcat::transport::tcp
