// SPDX-License-Identifier: Apache-2.0
/// Debian's libudt as an Engine: connecting and listening. It blocks there or says nothing, so it is polled.
#include <list>
#include <utility>

#include <fmt/format.h>
#include <sys/socket.h>
#include <udt/udt.h>
#include <boost/asio/steady_timer.hpp>

#include "lib/core/invariant.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "lib/net/bind.hpp"
#include "lib/transport/engine.hpp"
#include "lib/transport/libudt/datagram_guard.hpp"
#include "lib/transport/libudt/libudt_channel.hpp"

namespace udtcat::transport::libudt {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPollInterval = 5ms;  // guess: libudt's own event wait polls every 10 ms
constexpr auto kTryFor = 2500ms;     // spec: libudt drops a try after 3 s; below, with room for a late timer
constexpr auto kTooOld = 2900ms;     // spec: the same 3 s, by the wall clock, which is libudt's
constexpr int kBacklog = 16;         // guess: a client that waits costs about 1 MiB inside libudt

/// Or was: a listener that has little to say may have said it, and closed, between two polls.
bool is_connected(const UdtSocket& socket) {
  const UDTSTATUS state = UDT::getsockstate(socket.id());
  return state == CONNECTED || (state == BROKEN && socket.end_state() != UdtSocket::EndState::never_connected);
}

/// One call of Engine::async_connect. libudt's own attempt ends after 3 s in a way that its sockets do not survive. So
/// each try is given up before that and the next one has a socket, a port and an initial sequence number of its own,
/// until the caller's patience is over.
/// Threads: confined, as Engine. Destroying it ends it without a call.
class ConnectAttempt {
 public:
  /// `on_done` is called once, and may destroy the attempt.
  using OnDone = std::function<void(ConnectAttempt&, Result<std::unique_ptr<Channel>>)>;

  ConnectAttempt(boost::asio::io_context& io, std::shared_ptr<Runtime> runtime, const Endpoint& peer,
                 const TransportOptions& options, std::chrono::milliseconds patience, OnDone on_done)
      : io_(io),
        runtime_(std::move(runtime)),
        peer_(peer),
        options_(options),
        give_up_(Clock::now() + patience),
        on_done_(std::move(on_done)),
        timer_(io) {
    poll_after(0ms);
  }
  ~ConnectAttempt() { end_try(); }

 private:
  struct Try {
    UdtSocket socket;
    std::shared_ptr<PortWatch> port_watch;
    Clock::time_point begun;
    std::chrono::system_clock::time_point begun_by_wall_clock;
  };

  void poll_after(std::chrono::milliseconds delay) {
    timer_.expires_after(delay);
    timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& error) {
      if (!error) poll();
    }));
  }
  void poll();
  [[nodiscard]] Result<Try> begin_try();
  void end_try();
  void finish(Result<std::unique_ptr<Channel>> result) {
    end_try();
    const OnDone on_done = std::move(on_done_);  // survives this object, which the call may destroy
    on_done(*this, std::move(result));
  }
  void fail_with(std::string cause) {
    finish(fail(Errc::cannot_reach, fmt::format("connect udp {}", peer_.to_string()), std::move(cause)));
  }

  boost::asio::io_context& io_;
  const std::shared_ptr<Runtime> runtime_;
  const Endpoint peer_;
  const TransportOptions options_;
  const Clock::time_point give_up_;
  OnDone on_done_;
  boost::asio::steady_timer timer_;
  std::optional<Try> try_;
  core::Lifetime lifetime_;
};

void ConnectAttempt::poll() {
  const auto now = Clock::now();
  if (try_ && is_connected(try_->socket)) {
    Try connected = std::move(*try_);
    try_.reset();
    return finish(make_channel(
        io_, runtime_, {std::move(connected.socket), peer_, std::move(connected.port_watch), options_.idle_timeout}));
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
  UDTCAT_CHECK(udp.connect(peer_));  // so that the kernel keeps other hosts out and knows the path's MTU
  const std::size_t mss = connecting_mss(peer_.family(), udp.path_mtu());
  UDTCAT_CHECK(attach_datagram_guard(udp, mss, mss));
  udp.discard_received();
  UDTCAT_CHECK(udp.keep_path_errors());
  UDTCAT_TRY(UdtSocket socket, UdtSocket::open(peer_.family(), mss, options_.rate));
  UDTCAT_CHECK(socket.run_over(udp, udp));
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

/// One bound address of a listener.
struct BoundListener {
  UdtSocket socket;
  Endpoint local;
  std::shared_ptr<PortWatch> port_watch;
  net::UdpSocket alias;  ///< libudt knows it by this one's port, kept so that no other socket gets its number
};

std::size_t mss_at(const Endpoint& local) { return listening_mss(local.family(), net::interface_mtu(local)); }

/// libudt finds the UDP socket of a new connection by the port number of the listener alone, so it is to know each of
/// one port under a number of its own.
Result<BoundListener> listen_on(net::BoundSocket bound, BitRate rate) {
  UDTCAT_CHECK(bound.socket.keep_path_errors());
  UDTCAT_TRY(UdtSocket socket, UdtSocket::open(bound.local.family(), mss_at(bound.local), rate));
  UDTCAT_TRY(net::UdpSocket alias, net::UdpSocket::open(bound.local.family()));
  UDTCAT_CHECK(alias.bind(net::loopback(bound.local.family())));
  UDTCAT_CHECK(socket.run_over(bound.socket, alias));
  if (UDT::listen(socket.id(), kBacklog) == UDT::ERROR)
    return tl::unexpected(last_error(Errc::cannot_bind, fmt::format("listen at udp {}", bound.local.to_string())));
  return BoundListener{std::move(socket), bound.local, std::make_shared<PortWatch>(std::move(bound.socket)),
                       std::move(alias)};
}

/// Channels go on when it is gone. libudt keeps the port for some seconds longer.
/// Threads: confined, as Acceptor.
class LibudtAcceptor final : public Acceptor {
 public:
  LibudtAcceptor(boost::asio::io_context& io, std::shared_ptr<Runtime> runtime, std::vector<BoundListener> listeners,
                 std::chrono::milliseconds idle_timeout)
      : io_(io),
        runtime_(std::move(runtime)),
        listeners_(std::move(listeners)),
        idle_timeout_(idle_timeout),
        timer_(io) {}

  void async_accept(ChannelHandler handler) override {
    UDTCAT_INVARIANT(!handler_, "an acceptor has one accept at a time");
    handler_ = std::move(handler);
    poll_after(0ms);
  }
  [[nodiscard]] std::vector<Endpoint> local_endpoints() const override {
    std::vector<Endpoint> locals;
    for (const BoundListener& listener : listeners_) locals.push_back(listener.local);
    return locals;
  }

 private:
  void poll_after(std::chrono::milliseconds delay) {
    timer_.expires_after(delay);
    timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& error) {
      if (!error) poll();
    }));
  }
  void poll();
  /// none: no client waits at this listener
  [[nodiscard]] std::optional<Result<std::unique_ptr<Channel>>> accept_at(const BoundListener& listener);

  boost::asio::io_context& io_;
  const std::shared_ptr<Runtime> runtime_;
  std::vector<BoundListener> listeners_;
  const std::chrono::milliseconds idle_timeout_;
  boost::asio::steady_timer timer_;
  ChannelHandler handler_;
  core::Lifetime lifetime_;
};

void LibudtAcceptor::poll() {
  for (const BoundListener& listener : listeners_) {
    listener.port_watch->take(Clock::now());
    auto accepted = accept_at(listener);
    if (!accepted) continue;
    const ChannelHandler handler = std::exchange(handler_, nullptr);  // the call may ask again, or destroy us
    return handler(std::move(*accepted));
  }
  poll_after(kPollInterval);
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
  // SAFETY: sockaddr_storage is made to be read as any sockaddr.
  auto* const address = reinterpret_cast<sockaddr*>(&storage);
  if (UDT::getpeername(id, address, &length) == UDT::ERROR) {
    // A peer that has gone already counts only if it left bytes; libudt no longer tells its address.
    if (socket.end_state() != UdtSocket::EndState::holds_bytes) return std::nullopt;
    storage.ss_family = static_cast<sa_family_t>(listener.local.data()->sa_family);
    length = static_cast<int>(listener.local.size_bytes());
  }
  const auto peer = Endpoint::from_sockaddr(address, static_cast<std::size_t>(length));
  if (!peer) return std::nullopt;
  auto channel = make_channel(io_, runtime_, {std::move(socket), *peer, listener.port_watch, idle_timeout_});
  if (!channel) return std::nullopt;
  return channel;
}

/// Threads: confined, as Engine.
class LibudtEngine final : public Engine {
 public:
  LibudtEngine(boost::asio::io_context& io, std::shared_ptr<Runtime> runtime, const TransportOptions& options)
      : io_(io), runtime_(std::move(runtime)), options_(options) {}

  void async_connect(const Endpoint& peer, core::SharedBytes handshake_data, std::chrono::milliseconds patience,
                     ChannelHandler handler) override {
    const auto on_done = [this, handshake_data = std::move(handshake_data), handler = std::move(handler)](
                             ConnectAttempt& attempt, Result<std::unique_ptr<Channel>> result) {
      attempts_.remove_if([&](const auto& each) { return each.get() == &attempt; });
      if (result) write_handshake_data(**result, handshake_data);
      handler(std::move(result));
    };
    attempts_.push_back(std::make_unique<ConnectAttempt>(io_, runtime_, peer, options_, patience, on_done));
  }

  Result<std::unique_ptr<Acceptor>> listen(const std::vector<Endpoint>& locals) override {
    // Before the port exists, so that not one datagram comes past.
    const auto guard = [](net::UdpSocket& socket, const Endpoint& wanted) {
      constexpr std::size_t kAnyMss = 65535;
      return attach_datagram_guard(socket, mss_at(wanted), kAnyMss);
    };
    UDTCAT_TRY(auto bound, net::bind_on_one_port(locals, guard));
    std::vector<BoundListener> listeners;
    for (net::BoundSocket& each : bound) {
      UDTCAT_TRY(BoundListener listener, listen_on(std::move(each), options_.rate));
      listeners.push_back(std::move(listener));
    }
    return std::make_unique<LibudtAcceptor>(io_, runtime_, std::move(listeners), options_.idle_timeout);
  }

 private:
  boost::asio::io_context& io_;
  const std::shared_ptr<Runtime> runtime_;
  const TransportOptions options_;
  std::list<std::unique_ptr<ConnectAttempt>> attempts_;
};

}  // namespace

const bool kIsLinked = true;

Result<std::unique_ptr<Engine>> make_libudt_engine(boost::asio::io_context& io, const TransportOptions& options) {
  if (!options.local_addresses.empty())
    return fail(Errc::bad_argument, "leave from an address of the user's choice", "libudt lets the system choose");
  UDTCAT_TRY(std::shared_ptr<Runtime> runtime, Runtime::acquire());
  return std::make_unique<LibudtEngine>(io, std::move(runtime), options);
}

}  // namespace udtcat::transport::libudt
