// SPDX-License-Identifier: Apache-2.0
#include "fault/tcp_peer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include <poll.h>
#include <sys/socket.h>

namespace udtcat::fault {

TcpPeer::TcpPeer(test::Descriptor socket, const std::vector<std::byte>& given, const std::vector<std::byte>& expected)
    : socket_(std::move(socket)), given_(given), expected_(expected) {
  test::set_non_blocking(socket_);
  thread_ = std::thread([this] { work(); });
}

TcpPeer::~TcpPeer() {
  test::set_event(stop_);
  thread_.join();
}

void TcpPeer::work() {
  while (end_ != End::broken && !(end_ == End::clean && finished_)) {
    const short reading = end_ == End::open ? POLLIN : 0;
    const short writing = finished_ ? 0 : POLLOUT;
    std::array<pollfd, 2> events{{{.fd = stop_.fd(), .events = POLLIN, .revents = 0},
                                  {.fd = socket_.fd(), .events = static_cast<short>(reading | writing), .revents = 0}}};
    if (::poll(events.data(), events.size(), -1) < 0 || events[0].revents != 0) return;
    if (reading != 0 && (events[1].revents & (POLLIN | POLLERR | POLLHUP)) != 0) take();
    if (end_ != End::broken && !finished_) give();
  }
  done_ = true;
}

void TcpPeer::give() {
  const auto rest = std::span(given_).subspan(gave_);
  const auto sent = rest.empty() ? 0 : ::send(socket_.fd(), rest.data(), rest.size(), MSG_NOSIGNAL);
  if (sent < 0) {
    if (errno == EAGAIN) return;
    finished_ = true;
    if (end_ == End::open) end_ = End::broken;
    return;
  }
  gave_ += static_cast<std::size_t>(sent);
  if (gave_ < given_.size()) return;
  finished_ = true;
  ::shutdown(socket_.fd(), SHUT_WR);
}

void TcpPeer::take() {
  std::array<std::byte, 64 * 1024> part;
  const auto got = ::recv(socket_.fd(), part.data(), part.size(), 0);
  if (got < 0) {
    if (errno != EAGAIN) end_ = End::broken;
    return;
  }
  if (got == 0) {
    end_ = End::clean;
    return;
  }
  const auto came = std::span(part).first(static_cast<std::size_t>(got));
  const auto due = std::span(expected_).subspan(std::min<std::size_t>(taken_, expected_.size()));
  if (came.size() > due.size() || !std::ranges::equal(came, due.first(came.size()))) wrong_ = true;
  taken_ += came.size();
}

}  // namespace udtcat::fault
