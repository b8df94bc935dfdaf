#include "lib/transport/native/native_engine.hpp"

#include <algorithm>
#include <list>
#include <memory>
#include <utility>

#include <boost/asio/post.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/net/bind.hpp"
#include "lib/transport/native/native_acceptor.hpp"
#include "lib/transport/native/native_channel.hpp"
#include "lib/transport/native/port_keys.hpp"
#include "lib/transport/native/udp_port.hpp"

namespace udtcat::transport::native {

namespace {

constexpr std::size_t kInternetMtu = 1500;     // spec: RFC 894
constexpr std::uint32_t kIpv6ExtraBytes = 20;  // spec: RFC 8200 §3 against RFC 791 §3.1

/// The MSS to offer on an interface that carries `mtu`: it counts the headers of IPv4, for IPv6 too.
std::uint32_t mss_for(AddressFamily family, std::optional<std::size_t> mtu) {
  const auto bytes = static_cast<std::uint32_t>(std::clamp<std::size_t>(mtu.value_or(kInternetMtu), 576, kMaxMss));
  return family == AddressFamily::ipv6 ? bytes - kIpv6ExtraBytes : bytes;
}

/// Threads: confined, as Engine.
class NativeEngine final : public Engine {
 public:
  NativeEngine(boost::asio::io_context& io, const TransportOptions& options, std::optional<PortKeys> keys)
      : io_(io), options_(options), keys_(std::move(keys)) {}
  ~NativeEngine() override {
    lifetime_.end();
    for (const auto& port : ports_) port->finish();
  }
  NativeEngine(const NativeEngine&) = delete;
  NativeEngine& operator=(const NativeEngine&) = delete;

  void async_connect(const Endpoint& peer, std::chrono::milliseconds patience, ChannelHandler handler) override {
    auto port = outgoing_port(peer);
    if (!port) return post_failure(port.error(), std::move(handler));
    auto opened = (*port)->open(peer, patience, lifetime_.guard([this, at = *port, handler](Result<Link*> link) {
      if (!link) return handler(tl::unexpected(link.error()));
      handler(std::make_unique<NativeChannel>(io_, *at, **link));
    }));
    if (!opened) post_failure(opened.error(), std::move(handler));
  }

  Result<std::unique_ptr<Acceptor>> listen(const std::vector<Endpoint>& locals) override {
    auto bound = net::bind_on_one_port(locals);
    if (!bound) return tl::unexpected(bound.error());
    std::vector<UdpPort*> listening;
    for (auto& [socket, local] : *bound) {
      auto port = add_port(std::move(socket), mss_for(local.family(), net::interface_mtu(local)));
      if (!port) return tl::unexpected(port.error());
      listening.push_back(*port);
    }
    return std::make_unique<NativeAcceptor>(io_, std::move(listening));
  }

 private:
  /// A socket of its own for each peer: the system then knows which way it goes, and how wide that is.
  Result<UdpPort*> outgoing_port(const Endpoint& peer) {
    for (const Outgoing& each : outgoing_)
      if (each.peer == peer) return each.port;
    close_idle_ports();
    auto socket = net::UdpSocket::open(peer.family());
    if (!socket) return tl::unexpected(socket.error());
    if (auto bound = socket->bind(net::wildcard(peer.family())); !bound) return tl::unexpected(bound.error());
    auto port = add_port(std::move(*socket), mss_for(peer.family(), net::first_hop_mtu(peer)));
    if (port) outgoing_.push_back({peer, *port});
    return port;
  }

  /// Those of peers that nobody speaks to any more.
  void close_idle_ports() {
    std::erase_if(outgoing_, [this](const Outgoing& each) {
      if (!each.port->idle()) return false;
      ports_.remove_if([&](const auto& port) { return port.get() == each.port; });
      return true;
    });
  }

  Result<UdpPort*> add_port(net::UdpSocket socket, std::uint32_t mss) {
    auto port = UdpPort::create(io_, std::move(socket), options_, mss, keys_ ? &*keys_ : nullptr);
    if (!port) return tl::unexpected(port.error());
    return ports_.emplace_back(std::move(*port)).get();
  }

  void post_failure(Error error, ChannelHandler handler) {
    boost::asio::post(io_, lifetime_.guard([error = std::move(error), handler = std::move(handler)] {
      handler(tl::unexpected(error));
    }));
  }

  struct Outgoing {
    Endpoint peer;
    UdpPort* port;
  };

  boost::asio::io_context& io_;
  const TransportOptions options_;
  const std::optional<PortKeys> keys_;  // none: without a key
  std::list<std::unique_ptr<UdpPort>> ports_;
  std::vector<Outgoing> outgoing_;
  core::Lifetime lifetime_;
};

}  // namespace

Result<std::unique_ptr<Engine>> make_native_engine(boost::asio::io_context& io, const TransportOptions& options,
                                                   const Key* key) {
  if (key == nullptr) return std::make_unique<NativeEngine>(io, options, std::nullopt);
  auto keys = PortKeys::derive(*key);
  if (!keys) return tl::unexpected(keys.error());
  return std::make_unique<NativeEngine>(io, options, std::move(*keys));
}

}  // namespace udtcat::transport::native
