// SPDX-License-Identifier: Apache-2.0
#include "e2e/support/tcp_relay.hpp"

#include <array>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace udtcat::test::e2e {

namespace {

constexpr int kTurnMilliseconds = 5;  // guess: what is asked for happens so soon

sockaddr_in address_of_port(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

Descriptor open_tcp() {
  Descriptor made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!made.valid()) die("socket");
  return made;
}

void set_no_delay(const Descriptor& socket) {
  const int on = 1;
  std::ignore = ::setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void close_as_a_reset(Descriptor& socket) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  std::ignore = ::setsockopt(socket.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  socket.close();
}

}  // namespace

TcpRelay::TcpRelay(std::uint16_t listener_port) : target_(listener_port), listening_(open_tcp()) {
  sockaddr_in address = address_of_port(0);
  socklen_t length = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listening_.fd(), any, length) != 0 || ::listen(listening_.fd(), 64) != 0) die("listen");
  if (::getsockname(listening_.fd(), any, &length) != 0) die("getsockname");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

TcpRelay::~TcpRelay() {
  stops_ = true;
  thread_.join();
}

void TcpRelay::run() {
  while (!stops_) {
    std::vector<pollfd> all{{.fd = listening_.fd(), .events = POLLIN, .revents = 0}};
    if (!pauses_)
      for (const Connection& each : connections_)
        for (const Descriptor& end : each.ends) all.push_back({.fd = end.fd(), .events = POLLIN, .revents = 0});
    std::ignore = ::poll(all.data(), all.size(), kTurnMilliseconds);
    if ((all.front().revents & POLLIN) != 0) accept();
    if (!pauses_) connections_.remove_if([this](Connection& each) { return !serve(each); });
  }
}

void TcpRelay::accept() {
  Descriptor from(::accept4(listening_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
  Descriptor to = open_tcp();
  const sockaddr_in address = address_of_port(target_);
  // A closed port is told by a reset.
  if (::connect(to.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return close_as_a_reset(from);
  set_no_delay(from);
  set_no_delay(to);
  Connection& made = connections_.emplace_back();
  made.ends[index(Towards::listener)] = std::move(to);
  made.ends[index(Towards::connector)] = std::move(from);
}

/// False when it is over.
bool TcpRelay::serve(Connection& connection) {
  if (resets_) {
    for (Descriptor& end : connection.ends) close_as_a_reset(end);
    return false;
  }
  for (const Towards towards : {Towards::listener, Towards::connector}) {
    if (ways_[index(towards)].forged_end) end(connection, towards);
    if (!carry(connection, towards)) return false;
  }
  return !connection.over[0] || !connection.over[1];
}

bool TcpRelay::carry(Connection& connection, Towards towards) {
  std::array<std::byte, 65536> bytes{};
  const Descriptor& from = connection.ends[index(opposite(towards))];
  const Descriptor& to = connection.ends[index(towards)];
  const ssize_t got = ::recv(from.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0 && errno == EAGAIN) return true;
  if (got < 0) {
    for (Descriptor& each : connection.ends) close_as_a_reset(each);
    return false;
  }
  if (got == 0) {
    end(connection, towards);
    return true;
  }
  Way& way = ways_[index(towards)];
  std::uint64_t& carried = connection.carried_bytes[index(towards)];
  const auto count = static_cast<std::size_t>(got);
  if (way.flip_at >= carried && way.flip_at < carried + count) {
    bytes[way.flip_at - carried] ^= std::byte{1};
    has_flipped_ = true;
  }
  carried += count;
  way.carried_bytes += count;
  if (swallows_ || connection.over[index(towards)]) return true;
  for (std::size_t sent = 0; sent < count && !stops_;) {
    const ssize_t took = ::send(to.fd(), bytes.data() + sent, count - sent, MSG_NOSIGNAL);
    if (took < 0) break;  // the next read tells why
    sent += static_cast<std::size_t>(took);
  }
  return true;
}

void TcpRelay::end(Connection& connection, Towards towards) {
  if (!std::exchange(connection.over[index(towards)], true))
    std::ignore = ::shutdown(connection.ends[index(towards)].fd(), SHUT_WR);
}

}  // namespace udtcat::test::e2e
