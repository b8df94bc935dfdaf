// SPDX-License-Identifier: Apache-2.0
#include "e2e/support/tcp_client.hpp"

#include <algorithm>
#include <cerrno>
#include <span>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "support/deadline.hpp"

namespace udtcat::test::e2e {

namespace {

timeval to_timeval(std::chrono::milliseconds duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  const auto rest = std::chrono::duration_cast<std::chrono::microseconds>(duration - seconds);
  return {.tv_sec = seconds.count(), .tv_usec = rest.count()};
}

sockaddr_in port_here(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

TcpClient::TcpClient(std::uint16_t port, std::chrono::milliseconds patience) : TcpClient("127.0.0.1", port, patience) {}

TcpClient::TcpClient(const char* from, std::uint16_t port, std::chrono::milliseconds patience)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (!socket_.valid()) die("make a TCP socket");
  bound_calls(patience);
  const sockaddr_in address = port_here(port);
  sockaddr_in own = port_here(0);
  const int late_port = 1;  // the same port serves for connections to different ones
  // SAFETY: as below.
  if (::inet_pton(AF_INET, from, &own.sin_addr) != 1 ||
      ::setsockopt(socket_.fd(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &late_port, sizeof late_port) != 0 ||
      ::bind(socket_.fd(), reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0)
    die("bind a TCP socket");
  // SAFETY: every sockaddr_* begins as sockaddr does; that is the sockets interface.
  connected_ = ::connect(socket_.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

TcpClient::TcpClient(Descriptor connected, std::chrono::milliseconds patience)
    : socket_(std::move(connected)), connected_(true) {
  bound_calls(patience);
}

void TcpClient::bound_calls(std::chrono::milliseconds patience) const {
  const timeval limit = to_timeval(patience);
  for (const int operation : {SO_RCVTIMEO, SO_SNDTIMEO}) {
    if (::setsockopt(socket_.fd(), SOL_SOCKET, operation, &limit, sizeof limit) != 0) die("setsockopt");
  }
}

bool TcpClient::send(std::string_view text) const {
  while (!text.empty()) {
    const auto sent = ::send(socket_.fd(), text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void TcpClient::finish_sending() const {
  // ENOTCONN: the peer has reset it by now.
  if (::shutdown(socket_.fd(), SHUT_WR) != 0 && errno != ENOTCONN) die("shut down a TCP connection");
}

std::string TcpClient::receive(std::size_t bytes) const {
  std::string received(bytes, '\0');
  std::size_t filled = 0;
  while (filled < bytes) {
    const auto got = ::recv(socket_.fd(), received.data() + filled, bytes - filled, 0);
    if (got < 0 && errno == ECONNRESET) was_reset_ = true;  // the system says it once
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  received.resize(filled);
  return received;
}

namespace {

/// The errno of the end, 0 of a close.
int skip_to_end(const Descriptor& socket) {
  std::vector<char> skipped(4096);
  for (;;) {
    const auto got = ::recv(socket.fd(), skipped.data(), skipped.size(), 0);
    if (got <= 0) return got == 0 ? 0 : errno;
  }
}

}  // namespace

bool TcpClient::receive_end() const {
  const int end = skip_to_end(socket_);
  return end == 0 || end == ECONNRESET;
}

bool TcpClient::is_at_end() const {
  char next{};
  const auto there = ::recv(socket_.fd(), &next, 1, MSG_PEEK);
  return there == 0 || (there < 0 && errno == ECONNRESET);
}

bool TcpClient::receive_reset() const { return was_reset_ || skip_to_end(socket_) == ECONNRESET; }

Digest TcpClient::digest_of_next(std::uint64_t bytes) const {
  std::vector<std::byte> chunk(256 * 1024);
  Digester digester;
  for (std::uint64_t left = bytes; left > 0;) {
    const auto got =
        ::recv(socket_.fd(), chunk.data(), static_cast<std::size_t>(std::min<std::uint64_t>(left, chunk.size())), 0);
    if (got <= 0) break;
    digester.add(std::span(chunk).first(static_cast<std::size_t>(got)));
    left -= static_cast<std::uint64_t>(got);
  }
  return digester.finish();
}

TcpListener::TcpListener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (!socket_.valid()) die("make a TCP socket");
  sockaddr_in address = port_here(0);
  socklen_t length = sizeof address;
  constexpr int kBacklog = 64;
  // SAFETY: as above.
  if (::bind(socket_.fd(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      ::listen(socket_.fd(), kBacklog) != 0 ||
      ::getsockname(socket_.fd(), reinterpret_cast<sockaddr*>(&address), &length) != 0)
    die("listen on a TCP port");
  port_ = ntohs(address.sin_port);
}

std::optional<TcpClient> TcpListener::accept(std::chrono::milliseconds limit) const {
  pollfd waiting{.fd = socket_.fd(), .events = POLLIN, .revents = 0};
  if (::poll(&waiting, 1, static_cast<int>(limit.count())) <= 0) return std::nullopt;
  Descriptor connected(::accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connected.valid()) return std::nullopt;
  return TcpClient(std::move(connected), limit);
}

bool accepts_tcp(std::uint16_t port, std::chrono::milliseconds limit) {
  return eventually(limit, [&] { return TcpClient(port, limit).connected(); });
}

}  // namespace udtcat::test::e2e
