#include "lib/transport/libudt/libudt_acceptor.hpp"

#include <array>
#include <utility>

#include <sys/socket.h>
#include <udt/udt.h>

#include "lib/core/invariant.hpp"
#include "lib/transport/libudt/libudt_channel.hpp"
#include "lib/transport/libudt/libudt_error.hpp"

namespace udtcat::transport::libudt {

namespace {

using namespace std::chrono_literals;

constexpr auto kAcceptLook = 5ms;  // guess: libudt's own event wait looks every 10 ms

}  // namespace

LibudtAcceptor::LibudtAcceptor(boost::asio::io_context& io, std::shared_ptr<Runtime> runtime,
                               std::vector<Listener> listeners, std::chrono::milliseconds idle_timeout)
    : io_(io),
      runtime_(std::move(runtime)),
      listeners_(std::move(listeners)),
      idle_timeout_(idle_timeout),
      timer_(io) {}

std::vector<Endpoint> LibudtAcceptor::local_endpoints() const {
  std::vector<Endpoint> locals;
  for (const Listener& listener : listeners_) locals.push_back(listener.local);
  return locals;
}

void LibudtAcceptor::async_accept(ChannelHandler handler) {
  UDTCAT_INVARIANT(!handler_, "an acceptor has one accept at a time");
  handler_ = std::move(handler);
  look_after(0ms);
}

void LibudtAcceptor::look_after(std::chrono::milliseconds delay) {
  timer_.expires_after(delay);
  timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& error) {
    if (!error) look();
  }));
}

void LibudtAcceptor::look() {
  for (const Listener& listener : listeners_) {
    listener.port_watch->take(PortWatch::Clock::now());
    auto accepted = accept_at(listener);
    if (!accepted) continue;
    const ChannelHandler handler = std::exchange(handler_, nullptr);  // the call may ask again, or destroy us
    return handler(std::move(*accepted));
  }
  look_after(kAcceptLook);
}

std::optional<Result<std::unique_ptr<Channel>>> LibudtAcceptor::accept_at(const Listener& listener) {
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
    // A peer that went again before it was asked for is nobody's business, unless it left something. Who it was libudt
    // no longer says.
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
