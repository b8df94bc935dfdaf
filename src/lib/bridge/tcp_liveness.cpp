// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/tcp_liveness.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <boost/asio/socket_base.hpp>

namespace udtcat::bridge {
namespace {

constexpr int kIdleSeconds = 45;     // guess: below the minute after which small gateways forget a connection
constexpr int kProbeSeconds = 5;     // guess: three lost in a row are no accident
constexpr int kProbes = 3;           // guess: likewise
constexpr int kSilentLooks = 5;      // guess: with kLookForAcks a minute
constexpr int kUnansweredSends = 2;  // guess: one probe of a closed window may be lost, and the next is 2 minutes away

bool is_unacknowledged(int socket) {
  int waiting_bytes = 0;
  return ::ioctl(socket, SIOCOUTQ, &waiting_bytes) == 0 && waiting_bytes > 0;
}

/// The system counts what it sends again, and its probes of a window that is closed, until the next acknowledgement.
bool sends_unheard(int socket, std::chrono::milliseconds within) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return false;
  return std::max<int>(info.tcpi_retransmits, info.tcpi_probes - 1) >= kUnansweredSends &&
         std::chrono::milliseconds(info.tcpi_last_ack_recv) >= within;
}

void set_tcp_option(StreamSocket& socket, int option, int value) {
  // Fails for a unix socket, which needs none, and for one that was reset meanwhile.
  std::ignore = ::setsockopt(socket.native_handle(), IPPROTO_TCP, option, &value, sizeof value);
}

}  // namespace

void keep_alive(StreamSocket& socket) {
  boost::system::error_code gone;
  socket.set_option(boost::asio::socket_base::keep_alive(true), gone);
  set_tcp_option(socket, TCP_KEEPIDLE, kIdleSeconds);
  set_tcp_option(socket, TCP_KEEPINTVL, kProbeSeconds);
  set_tcp_option(socket, TCP_KEEPCNT, kProbes);
}

AckWatch::AckWatch(StreamSocket& socket, std::function<void()> on_lost, std::chrono::milliseconds interval)
    : socket_(socket), on_lost_(std::move(on_lost)), interval_(interval), timer_(socket.get_executor()) {}

void AckWatch::sent() {
  if (std::exchange(looks_, true)) return;
  silent_looks_ = 0;
  look();
}

void AckWatch::look() {
  timer_.expires_after(interval_);
  timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    looks_ = false;
    if (cancelled || !is_unacknowledged(socket_.native_handle())) return;
    const bool is_silent = sends_unheard(socket_.native_handle(), interval_);
    silent_looks_ = is_silent ? silent_looks_ + 1 : 0;
    if (silent_looks_ == kSilentLooks) return on_lost_();
    looks_ = true;
    look();
  }));
}

}  // namespace udtcat::bridge
