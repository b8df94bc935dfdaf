// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/libudt/connect_attempt.hpp"

#include <utility>

#include <fmt/format.h>
#include <udt/udt.h>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "lib/transport/libudt/datagram_guard.hpp"
#include "lib/transport/libudt/libudt_channel.hpp"

namespace udtcat::transport::libudt {

namespace {

using namespace std::chrono_literals;

constexpr auto kPollInterval = 5ms;  // guess: libudt's own event wait polls every 10 ms
constexpr auto kTryFor = 2500ms;     // spec: libudt drops a try after 3 s; below, with room for a late timer
constexpr auto kTooOld = 2900ms;     // spec: the same 3 s, by the wall clock, which is libudt's

/// Or was: a listener that has little to say may have said it, and closed, between two polls.
bool is_connected(const UdtSocket& socket) {
  const UDTSTATUS state = UDT::getsockstate(socket.id());
  return state == CONNECTED || (state == BROKEN && socket.past() != UdtSocket::Past::never_connected);
}

}  // namespace

ConnectAttempt::ConnectAttempt(boost::asio::io_context& io, std::shared_ptr<Runtime> runtime, const Endpoint& peer,
                               const TransportOptions& options, std::chrono::milliseconds patience, OnDone on_done)
    : io_(io),
      runtime_(std::move(runtime)),
      peer_(peer),
      rate_(options.rate),
      idle_timeout_(options.idle_timeout),
      give_up_(Clock::now() + patience),
      on_done_(std::move(on_done)),
      timer_(io) {
  poll_after(0ms);
}

ConnectAttempt::~ConnectAttempt() { end_try(); }

void ConnectAttempt::poll_after(std::chrono::milliseconds delay) {
  timer_.expires_after(delay);
  timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& error) {
    if (!error) poll();
  }));
}

void ConnectAttempt::poll() {
  const auto now = Clock::now();
  if (try_ && is_connected(try_->socket)) {
    Try connected = std::move(*try_);
    try_.reset();
    return finish(make_channel(io_, runtime_,
                               {std::move(connected.socket), peer_, std::move(connected.port_watch), idle_timeout_}));
  }
  if (try_) {
    try_->port_watch->take(now);
    if (try_->port_watch->refused(peer_)) return fail_with(kPortClosed);
  }
  if (now >= give_up_) return fail_with("nobody answered");
  if (try_ && now - try_->begun >= kTryFor) end_try();
  if (!try_) {
    auto begun = begin_try();
    if (!begun) return finish(tl::unexpected(begun.error()));
    try_.emplace(std::move(*begun));
  }
  poll_after(kPollInterval);
}

Result<ConnectAttempt::Try> ConnectAttempt::begin_try() {
  UDTCAT_TRY(net::UdpSocket udp, net::UdpSocket::open(peer_.family()));
  // Connected, so that the kernel keeps strangers out and knows the way's MTU.
  UDTCAT_CHECK(udp.connect(peer_));
  const PacketSize size = connecting_packet_size(peer_.family(), udp.path_mtu());
  UDTCAT_CHECK(attach_datagram_guard(udp, {size.mss, size.mss}));
  udp.discard_received();
  UDTCAT_CHECK(udp.keep_path_errors());

  UDTCAT_TRY(UdtSocket socket, UdtSocket::open(peer_.family(), size, rate_));
  UDTCAT_CHECK(socket.run_over(udp));
  auto port_watch = std::make_shared<PortWatch>(std::move(udp));
  port_watch->watch(peer_);
  Try begun{std::move(socket), std::move(port_watch), Clock::now(), std::chrono::system_clock::now()};
  if (UDT::connect(begun.socket.id(), peer_.data(), static_cast<int>(peer_.size_bytes())) == UDT::ERROR)
    return tl::unexpected(last_error(Errc::cannot_reach, fmt::format("connect udp {}", peer_.to_string())));
  return begun;
}

void ConnectAttempt::end_try() {
  if (!try_) return;
  // Stopped or suspended for too long, by any clock: libudt has dropped the try, keeps a pointer to the socket all the
  // same, and would follow it after the socket is gone.
  if (Clock::now() - try_->begun >= kTooOld ||
      std::chrono::system_clock::now() - try_->begun_by_wall_clock >= kTooOld) {
    core::log().debug("connect udp {}: a try was overtaken by the clock, its socket stays open", peer_.to_string());
    runtime_->leave_running();
    try_->socket.abandon();
  }
  try_.reset();
}

void ConnectAttempt::fail_with(std::string cause) {
  finish(fail(Errc::cannot_reach, fmt::format("connect udp {}", peer_.to_string()), std::move(cause)));
}

void ConnectAttempt::finish(Result<std::unique_ptr<Channel>> result) {
  end_try();
  const OnDone on_done = std::move(on_done_);  // survives this object, which the call may destroy
  on_done(*this, std::move(result));
}

}  // namespace udtcat::transport::libudt
