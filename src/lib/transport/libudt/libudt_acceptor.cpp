// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/libudt/libudt_acceptor.hpp"

#include <array>
#include <utility>

#include <sys/socket.h>

#include <fmt/format.h>
#include <udt/udt.h>

#include "lib/core/invariant.hpp"
#include "lib/core/try.hpp"
#include "lib/net/bind.hpp"
#include "lib/transport/libudt/datagram_guard.hpp"
#include "lib/transport/libudt/libudt_channel.hpp"

namespace udtcat::transport::libudt {

namespace {

using namespace std::chrono_literals;

constexpr auto kAcceptInterval = 5ms;            // guess: libudt's own event wait polls every 10 ms
constexpr int kBacklog = 16;                     // guess: a stranger that waits costs about 1 MiB inside libudt
constexpr std::size_t kAnyHandshakeMss = 65535;  // libudt takes the lesser of a client's MSS and its own

PacketSize packet_size_at(const Endpoint& local) {
  return listening_packet_size(local.family(), net::interface_mtu(local));
}

Result<net::UdpSocket> any_port(AddressFamily family) {
  auto socket = net::UdpSocket::open(family);
  if (!socket) return socket;
  UDTCAT_CHECK(socket->bind(net::loopback(family)));
  return socket;
}

/// `alias_needed`: another listener has the same port number. libudt finds the UDP socket of a new connection by the
/// port number of the listener alone, so it is to know each under a number of its own.
Result<BoundListener> listen_on(net::BoundSocket bound, bool alias_needed, BitRate rate) {
  UDTCAT_CHECK(bound.socket.keep_path_errors());
  UDTCAT_TRY(UdtSocket socket, UdtSocket::open(bound.local.family(), packet_size_at(bound.local), rate));
  std::optional<net::UdpSocket> alias;
  if (alias_needed) {
    UDTCAT_TRY(net::UdpSocket other_port, any_port(bound.local.family()));
    alias.emplace(std::move(other_port));
  }
  UDTCAT_CHECK(alias ? socket.run_over(bound.socket, *alias) : socket.run_over(bound.socket));
  if (UDT::listen(socket.id(), kBacklog) == UDT::ERROR)
    return tl::unexpected(last_error(Errc::cannot_bind, fmt::format("listen at udp {}", bound.local.to_string())));
  return BoundListener{std::move(socket), bound.local, std::make_shared<PortWatch>(std::move(bound.socket)),
                       std::move(alias)};
}

}  // namespace

Result<std::vector<BoundListener>> bind_listeners(const std::vector<Endpoint>& locals, BitRate rate) {
  // Before the port exists, so that not one datagram comes past.
  const auto guard = [](net::UdpSocket& socket, const Endpoint& wanted) {
    return attach_datagram_guard(socket, {packet_size_at(wanted).mss, kAnyHandshakeMss});
  };
  UDTCAT_TRY(auto bound, net::bind_on_one_port(locals, guard));
  std::vector<BoundListener> listeners;
  for (net::BoundSocket& each : bound) {
    UDTCAT_TRY(BoundListener listener, listen_on(std::move(each), !listeners.empty(), rate));
    listeners.push_back(std::move(listener));
  }
  return listeners;
}

LibudtAcceptor::LibudtAcceptor(boost::asio::io_context& io, std::shared_ptr<Runtime> runtime,
                               std::vector<BoundListener> listeners, std::chrono::milliseconds idle_timeout)
    : io_(io),
      runtime_(std::move(runtime)),
      listeners_(std::move(listeners)),
      idle_timeout_(idle_timeout),
      timer_(io) {}

std::vector<Endpoint> LibudtAcceptor::local_endpoints() const {
  std::vector<Endpoint> locals;
  for (const BoundListener& listener : listeners_) locals.push_back(listener.local);
  return locals;
}

void LibudtAcceptor::async_accept(ChannelHandler handler) {
  UDTCAT_INVARIANT(!handler_, "an acceptor has one accept at a time");
  handler_ = std::move(handler);
  poll_after(0ms);
}

void LibudtAcceptor::poll_after(std::chrono::milliseconds delay) {
  timer_.expires_after(delay);
  timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& error) {
    if (!error) poll();
  }));
}

void LibudtAcceptor::poll() {
  for (const BoundListener& listener : listeners_) {
    listener.port_watch->take(PortWatch::Clock::now());
    auto accepted = accept_at(listener);
    if (!accepted) continue;
    const ChannelHandler handler = std::exchange(handler_, nullptr);  // the call may ask again, or destroy us
    return handler(std::move(*accepted));
  }
  poll_after(kAcceptInterval);
}

std::optional<Result<std::unique_ptr<Channel>>> LibudtAcceptor::accept_at(const BoundListener& listener) {
  // Without an address: libudt would look for it in a socket that may be gone by then.
  const int id = UDT::accept(listener.socket.id(), nullptr, nullptr);
  if (id == UDT::INVALID_SOCK) {
    if (last_error_is_try_again()) return std::nullopt;
    return tl::unexpected(last_error(Errc::cannot_bind, "accept at udp " + listener.local.to_string()));
  }
  UdtSocket socket(id);
  sockaddr_storage storage{};
  int length = sizeof storage;
  auto* const address =
      reinterpret_cast<sockaddr*>(&storage);  // SAFETY: sockaddr_storage is made to be read as any sockaddr
  if (UDT::getpeername(id, address, &length) == UDT::ERROR) {
    // A peer that has gone already counts only if it left bytes; libudt no longer tells its address.
    if (socket.past() != UdtSocket::Past::holds_bytes) return std::nullopt;
    storage.ss_family = static_cast<sa_family_t>(listener.local.data()->sa_family);
    length = static_cast<int>(listener.local.size_bytes());
  }
  const auto peer = Endpoint::from_sockaddr(address, static_cast<std::size_t>(length));
  if (!peer) return std::nullopt;
  auto channel = make_channel(io_, runtime_, {std::move(socket), *peer, listener.port_watch, idle_timeout_});
  if (!channel) return std::nullopt;
  return channel;
}

}  // namespace udtcat::transport::libudt
