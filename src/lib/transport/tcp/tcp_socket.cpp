// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/tcp/tcp_socket.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <tuple>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <boost/asio/ip/v6_only.hpp>

#include "lib/core/try.hpp"
#include "lib/net/accept_errors.hpp"
#include "lib/net/system_error.hpp"

namespace udtcat::transport::tcp {

namespace {

constexpr int kPortsToTry = 16;      // guess: a port free in one family is rarely taken in the other
constexpr int kSystemBacklog = 256;  // guess: connections in one turn of the event loop; who is beyond asks again
constexpr int kProbes = 127;         // spec: Linux: the most; the channel itself gives a silent peer up
// Several questions within the idle timeout, so that one that is lost ends nothing.
constexpr int kProbesInIdleTimeout = 8;  // guess

/// Fails on a socket that was reset meanwhile, which the next call tells.
template <typename Value>
void set_option(Socket& socket, int level, int option, const Value& value) {
  std::ignore = ::setsockopt(socket.native_handle(), level, option, &value, sizeof value);
}

Result<ListenerSocket> listen_on(boost::asio::io_context& io, const Endpoint& local) {
  const auto address = to_asio(local);
  const std::string what = "bind tcp " + local.to_string();
  ListenerSocket socket(io);
  boost::system::error_code error;
  socket.open(address.protocol(), error);
  // A restarted listener has its port although connections of the one before are in TIME_WAIT.
  if (!error) socket.set_option(ListenerSocket::reuse_address(true), error);
  if (!error && local.family() == AddressFamily::ipv6) socket.set_option(boost::asio::ip::v6_only(true), error);
  if (!error) socket.bind(address, error);
  if (!error) socket.listen(kSystemBacklog, error);
  if (!error) socket.non_blocking(true, error);
  if (!error) std::ignore = socket.local_endpoint(error);  // local_of() would say port 0
  if (error) return net::system_error(Errc::cannot_bind, what, error.value());
  net::report_aborted_clients(socket);
  return socket;
}

Result<std::vector<ListenerSocket>> listen_on_all(boost::asio::io_context& io, const std::vector<Endpoint>& locals) {
  std::vector<ListenerSocket> all;
  for (const Endpoint& local : locals) {
    UDTCAT_TRY(ListenerSocket one, listen_on(io, all.empty() ? local : local.with_port(local_of(all.front()).port())));
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

boost::asio::ip::tcp::endpoint to_asio(const Endpoint& endpoint) {
  boost::asio::ip::tcp::endpoint made;
  if (endpoint.size_bytes() > made.capacity()) return made;
  std::memcpy(made.data(), endpoint.data(), endpoint.size_bytes());
  made.resize(endpoint.size_bytes());
  return made;
}

void set_no_delay(Socket& socket) { set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1); }

void set_up(Socket& socket, const TransportOptions& options) {
  boost::system::error_code gone;
  socket.non_blocking(true, gone);
  set_no_delay(socket);
  if (!options.rate.unlimited()) {
    const std::uint64_t bytes_per_second = options.rate.bytes_per_second();
    set_option(socket, SOL_SOCKET, SO_MAX_PACING_RATE, bytes_per_second);
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options.idle_timeout).count();
  const int interval = static_cast<int>(std::clamp<std::int64_t>(seconds / kProbesInIdleTimeout, 1, 3600));
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 2 * interval);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, interval);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
}

void limit_unsent(Socket& socket, std::uint64_t bytes) {
  set_option(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, static_cast<std::uint32_t>(bytes));
}

void reset(Socket& socket) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  set_option(socket, SOL_SOCKET, SO_LINGER, at_once);
  boost::system::error_code none;
  socket.close(none);
}

Result<std::vector<ListenerSocket>> listen_on_one_port(boost::asio::io_context& io,
                                                       const std::vector<Endpoint>& locals) {
  if (locals.empty()) return fail(Errc::bad_argument, "listen", "no address is given");
  auto bound = listen_on_all(io, locals);
  for (int i = 1; !bound && locals.front().port() == 0 && i < kPortsToTry; ++i) bound = listen_on_all(io, locals);
  return bound;
}

Endpoint local_of(const ListenerSocket& socket) {
  boost::system::error_code error;
  const auto local = socket.local_endpoint(error);
  return Endpoint::from_sockaddr(local.data(), local.size()).value_or(Endpoint());
}

Received receive(Socket& socket, std::span<std::byte> into) {
  for (;;) {
    const ssize_t got = ::recv(socket.native_handle(), into.data(), into.size(), MSG_DONTWAIT);
    if (got > 0) return {.state = Received::State::data, .bytes = static_cast<std::size_t>(got)};
    if (got == 0) return {.state = Received::State::end};
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {};
    return {.state = Received::State::failed, .errno_value = errno};
  }
}

Sent send(Socket& socket, std::span<const std::span<const std::byte>> pieces) {
  std::array<iovec, kMaxPieces> vectors{};
  const std::size_t count = std::min(pieces.size(), vectors.size());
  for (std::size_t i = 0; i < count; ++i)
    vectors[i] = {.iov_base = const_cast<std::byte*>(pieces[i].data()), .iov_len = pieces[i].size()};  // it only reads
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = count;
  for (;;) {
    const ssize_t took = ::sendmsg(socket.native_handle(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (took >= 0) return {.bytes = static_cast<std::size_t>(took)};
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {};
    return {.failed = true, .errno_value = errno};
  }
}

}  // namespace udtcat::transport::tcp
