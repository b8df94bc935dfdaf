// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <list>
#include <memory>
#include <utility>

#include <boost/asio/post.hpp>

#include "lib/core/cores.hpp"
#include "lib/core/invariant.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/core/try.hpp"
#include "lib/net/bind.hpp"
#include "lib/transport/engine.hpp"
#include "lib/transport/local_addresses.hpp"
#include "lib/transport/native/key_proof.hpp"
#include "lib/transport/native/native_channel.hpp"
#include "lib/transport/native/port_group.hpp"
#include "lib/transport/native/udp_port.hpp"

namespace udtcat::transport::native {

namespace {

/// The MSS to offer on an interface of that MTU: UDT counts the headers of IPv4, for IPv6 too.
std::uint32_t mss_for(AddressFamily family, std::optional<std::size_t> mtu) {
  const auto bytes = std::clamp<std::size_t>(mtu.value_or(kInternetMtu), 576, kMaxMss);
  return static_cast<std::uint32_t>(family == AddressFamily::ipv6 ? bytes - kIpv6ExtraBytes : bytes);
}

constexpr std::size_t kBacklog = 16;  // guess: a client beyond it is not answered, and asks again
// While an accept is outstanding, as many may come in one turn of the event loop. guess: some turns of 32 datagrams
constexpr std::size_t kBurst = 256;

/// Listening ports, one for each address family.
/// Threads: confined, as Channel.
class NativeAcceptor final : public Acceptor {
 public:
  /// The ports outlive this.
  NativeAcceptor(boost::asio::io_context& io, std::vector<UdpPort*> ports);
  ~NativeAcceptor() override;
  NativeAcceptor(const NativeAcceptor&) = delete;
  NativeAcceptor& operator=(const NativeAcceptor&) = delete;

  void async_accept(ChannelHandler handler) override;
  [[nodiscard]] std::vector<Endpoint> local_endpoints() const override;
  void share_memory(MemoryShare share) override;
  void send_stun(const Endpoint& peer, std::vector<std::byte> message) override;
  void on_stun(StunHandler handler) override;
  void take_only(WordsFilter wanted) override;
  void keep_beside(WordsFilter alike) override;

 private:
  void hand_on();
  [[nodiscard]] bool has_room(bool proved) const;

  boost::asio::io_context& io_;
  const std::vector<UdpPort*> ports_;
  /// Let in, and not accepted yet.
  struct Waiting {
    UdtLink* link;  // null: on another thread
    std::unique_ptr<Channel> channel;
    [[nodiscard]] bool proved() const { return link != nullptr ? link->proved : channel->proved_key(); }
  };
  void add(Waiting waiting);

  std::deque<Waiting> waiting_;
  std::size_t waiting_proved_ = 0;  // of them
  ChannelHandler handler_;
  core::Lifetime lifetime_;
};

NativeAcceptor::NativeAcceptor(boost::asio::io_context& io, std::vector<UdpPort*> ports)
    : io_(io), ports_(std::move(ports)) {
  for (UdpPort* const port : ports_)
    port->listen({.has_room = [this](bool proved) { return has_room(proved); },
                  .on_link =
                      [this](UdtLink& link) {
                        add({&link, nullptr});
                      },
                  .on_channel =
                      [this](std::unique_ptr<Channel> channel) {
                        add({nullptr, std::move(channel)});
                      }});
}

void NativeAcceptor::add(Waiting waiting) {
  if (waiting.proved()) ++waiting_proved_;
  waiting_.push_back(std::move(waiting));
  hand_on();
}

NativeAcceptor::~NativeAcceptor() {
  for (UdpPort* const port : ports_) {
    port->stop_listening();
    port->on_stun(nullptr);
  }
  for (const Waiting& each : waiting_)
    if (each.link != nullptr) each.link->release();
}

void NativeAcceptor::async_accept(ChannelHandler handler) {
  UDTCAT_INVARIANT(!handler_, "an acceptor has one accept at a time");
  handler_ = std::move(handler);
  hand_on();
}

/// Clients that have proved the key have room of their own, which others cannot fill.
bool NativeAcceptor::has_room(bool proved) const {
  const std::size_t alike = proved ? waiting_proved_ : waiting_.size() - waiting_proved_;
  return alike < (handler_ ? kBurst : kBacklog);
}

void NativeAcceptor::hand_on() {
  if (!handler_ || waiting_.empty()) return;
  boost::asio::post(io_, lifetime_.guard([this] {
    if (!handler_ || waiting_.empty()) return;
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    if (next.proved()) --waiting_proved_;
    if (next.link != nullptr) next.channel = std::make_unique<NativeChannel>(io_, *next.link);
    const ChannelHandler handler = std::exchange(handler_, nullptr);  // the handler may accept again, or destroy this
    handler(std::move(next.channel));
  }));
}

void NativeAcceptor::share_memory(MemoryShare share) {
  for (UdpPort* const port : ports_) port->share_memory(share);
}

void NativeAcceptor::send_stun(const Endpoint& peer, std::vector<std::byte> message) {
  for (UdpPort* const port : ports_)
    if (port->local().family() == peer.family()) return port->send_stun(peer, std::move(message));
}

void NativeAcceptor::on_stun(StunHandler handler) {
  for (UdpPort* const port : ports_) port->on_stun(handler);
}

void NativeAcceptor::take_only(WordsFilter wanted) {
  for (UdpPort* const port : ports_) port->take_only(wanted);
}

void NativeAcceptor::keep_beside(WordsFilter alike) {
  for (UdpPort* const port : ports_) port->keep_beside(alike);
}

std::vector<Endpoint> NativeAcceptor::local_endpoints() const {
  std::vector<Endpoint> locals;
  for (const UdpPort* const port : ports_) locals.push_back(port->local());
  return locals;
}

/// Threads: confined, as Engine.
class NativeEngine final : public Engine {
 public:
  NativeEngine(boost::asio::io_context& io, const TransportOptions& options, std::optional<PortKeys> keys)
      : io_(io),
        options_(options),
        keys_(std::move(keys)),
        locals_(options.local_addresses),
        threads_(io, std::max<std::size_t>(options.packet_threads.value_or(core::available_cores()), 1) - 1) {}
  ~NativeEngine() override {
    lifetime_.end();
    for (const auto& group : groups_) group->finish();
    for (const auto& port : ports_) port->finish();
    threads_.stop();
    groups_.clear();
  }
  NativeEngine(const NativeEngine&) = delete;
  NativeEngine& operator=(const NativeEngine&) = delete;

  void async_connect(const Endpoint& peer, core::SharedBytes handshake_data, std::chrono::milliseconds patience,
                     ChannelHandler handler) override {
    const auto port = outgoing_port(peer);
    std::size_t turn = 0;
    if (port)
      if (const auto its = std::ranges::find(outgoing_, *port, &Outgoing::port); its != outgoing_.end())
        turn = its->turn;
    connect_by(port, peer, std::move(handshake_data), patience,
               [this, turn, handler = std::move(handler)](Result<std::unique_ptr<Channel>> channel) {
                 if (channel) first_turn_ = turn;
                 handler(std::move(channel));
               });
  }

  void async_connect_flow(const Endpoint& peer, core::SharedBytes handshake_data, std::chrono::milliseconds patience,
                          const FlowSettings& settings, ChannelHandler handler) override {
    const bool names_port = options_.dialling_port != 0 && locals_.empty();
    const bool shares = names_port || std::ranges::any_of(outgoing_, &Outgoing::stays);
    auto port = shares ? outgoing_port(peer) : flow_port(peer, settings);
    connect_by(std::move(port), peer, std::move(handshake_data), patience, std::move(handler));
  }

  void connect_by(Result<UdpPort*> port, const Endpoint& peer, core::SharedBytes handshake_data,
                  std::chrono::milliseconds patience, ChannelHandler handler) {
    if (!port) return post_failure(port.error(), std::move(handler));
    const bool fit = handshake_data.size() <= kMaxHandshakeDataBytes;
    auto opened = (*port)->open(peer, fit ? handshake_data : core::SharedBytes(), patience,
                                lifetime_.guard([this, handshake_data, handler](Result<UdtLink*> link) {
                                  if (!link) return handler(tl::unexpected(link.error()));
                                  auto channel = std::make_unique<NativeChannel>(io_, **link);
                                  if ((*link)->connection.written_bytes() == 0)
                                    write_handshake_data(*channel, handshake_data);
                                  handler(std::move(channel));
                                }));
    if (!opened) post_failure(opened.error(), std::move(handler));
  }

  [[nodiscard]] bool knows_acknowledged() const override { return true; }

  [[nodiscard]] bool is_answered() const override {
    return std::ranges::any_of(ports_, [](const auto& port) { return port->is_answered(); });
  }

  Result<std::uint16_t> open_dialling_port(AddressFamily family) override {
    UDTCAT_TRY(UdpPort* const port, outgoing_port(net::wildcard(family)));
    const auto its = std::ranges::find(outgoing_, port, &Outgoing::port);
    its->stays = true;
    port->on_stun(on_stun_);
    return port->local().port();
  }

  void send_stun(const Endpoint& peer, std::vector<std::byte> message) override {
    for (const Outgoing& each : outgoing_)
      if (each.stays && each.peer.family() == peer.family()) return each.port->send_stun(peer, std::move(message));
  }

  void on_stun(StunHandler handler) override {
    on_stun_ = std::move(handler);
    for (const Outgoing& each : outgoing_)
      if (each.stays) each.port->on_stun(on_stun_);
  }

  Result<std::unique_ptr<Acceptor>> listen(const std::vector<Endpoint>& locals) override {
    UDTCAT_TRY(auto bound, net::bind_on_one_port(locals));
    std::vector<UdpPort*> listening;
    for (auto& [socket, local] : bound) {
      const std::uint32_t mss = mss_for(local.family(), net::interface_mtu(local));
      UDTCAT_TRY(UdpPort* const port, add_port(std::move(socket), mss));
      listening.push_back(port);
      if (threads_.limit() > 0)
        groups_.push_back(
            std::make_unique<PortGroup>(*port, threads_, options_, mss, [this] { return own_connections(); }));
    }
    return std::make_unique<NativeAcceptor>(io_, std::move(listening));
  }

 private:
  /// Each peer has a socket of its own, so that the system knows its route and MTU. Each attempt has a new one, since a
  /// NAT or a balancer may still have the mapping of the one before. On TransportOptions::dialling_port all peers of a
  /// family share one, and on one that stays. Of several addresses each attempt has the next one.
  Result<UdpPort*> outgoing_port(const Endpoint& peer) {
    close_idle_ports();
    const std::uint16_t wanted = options_.dialling_port;
    for (const Outgoing& each : outgoing_)
      if (locals_.empty() || each.stays)
        if (each.peer == peer || (each.peer.family() == peer.family() &&
                                  (each.stays || (wanted != 0 && each.port->local().port() == wanted))))
          return each.port;
    std::size_t turn = locals_.next_turn(peer);
    UDTCAT_TRY(UdpPort* const port, dialling_port(peer, turn, wanted));
    return outgoing_.emplace_back(Outgoing{peer, port, false, turn}).port;
  }

  /// A flow's own. What is known of the path is the first one's.
  Result<UdpPort*> flow_port(const Endpoint& peer, const FlowSettings& settings) {
    close_idle_ports();
    const std::size_t wanted = first_turn_ + settings.turn;
    std::size_t turn = wanted;
    UDTCAT_TRY(UdpPort* const port, dialling_port(peer, turn, options_.dialling_port));
    if (turn != wanted)
      return fail(Errc::cannot_bind, "leave for " + peer.host_to_string(), "that address is not here");
    port->share_memory([memory_bytes = settings.memory_bytes](std::size_t) { return memory_bytes; });
    flow_ports_.push_back(port);
    return port;
  }

  /// A new one, by which `peer` is dialled.
  /// turn     of the address, before and after
  /// wanted   its number, where that is free; 0: any
  Result<UdpPort*> dialling_port(const Endpoint& peer, std::size_t& turn, std::uint16_t wanted) {
    UDTCAT_TRY(net::UdpSocket socket, net::UdpSocket::open(peer.family()));
    const auto bind = [&](const Endpoint& local) -> Status {
      if (wanted != 0 && socket.bind(local.with_port(wanted))) return {};
      return socket.bind(local);
    };
    std::optional<std::size_t> mtu;
    if (locals_.empty()) {
      UDTCAT_CHECK(bind(net::wildcard(peer.family())));
      mtu = net::first_hop_mtu(peer);
    } else {
      UDTCAT_TRY(turn, locals_.bind(peer, turn, bind));
      UDTCAT_TRY(const Endpoint local, socket.local_endpoint());
      mtu = net::interface_mtu(local);
    }
    UDTCAT_TRY(UdpPort* const port, add_port(std::move(socket), mss_for(peer.family(), mtu)));
    port->let_rebind();
    return port;
  }

  /// Closes ports without a connection.
  void close_idle_ports() {
    std::erase_if(flow_ports_, [this](const UdpPort* each) {
      if (!each->idle()) return false;
      ports_.remove_if([&](const auto& port) { return port.get() == each; });
      return true;
    });
    std::erase_if(outgoing_, [this](const Outgoing& each) {
      if (each.stays || !each.port->idle()) return false;
      ports_.remove_if([&](const auto& port) { return port.get() == each.port; });
      return true;
    });
  }

  Result<UdpPort*> add_port(net::UdpSocket socket, std::uint32_t mss) {
    UDTCAT_TRY(auto port, UdpPort::create(io_, std::move(socket), options_, mss, keys_ ? &*keys_ : nullptr));
    port->couple_by(flow_groups_);
    return ports_.emplace_back(std::move(port)).get();
  }

  /// Of this thread.
  [[nodiscard]] std::size_t own_connections() const {
    std::size_t all = 0;
    for (const auto& port : ports_) all += port->own_connections();
    return all;
  }

  void post_failure(Error error, ChannelHandler handler) {
    boost::asio::post(io_, lifetime_.guard([error = std::move(error), handler = std::move(handler)] {
      handler(tl::unexpected(error));
    }));
  }

  struct Outgoing {
    Endpoint peer;
    UdpPort* port;
    bool stays;        // see open_dialling_port()
    std::size_t turn;  // of its local address
  };

  boost::asio::io_context& io_;
  const TransportOptions options_;
  const std::optional<PortKeys> keys_;  // none: without a key
  const std::shared_ptr<FlowGroups> flow_groups_ = std::make_shared<FlowGroups>();
  std::list<std::unique_ptr<UdpPort>> ports_;
  std::vector<Outgoing> outgoing_;
  std::vector<UdpPort*> flow_ports_;
  LocalAddresses locals_;
  std::size_t first_turn_ = 0;  // of the channel that further flows are beside
  IoThreads threads_;
  std::vector<std::unique_ptr<PortGroup>> groups_;  // a listening port's each
  StunHandler on_stun_;
  core::Lifetime lifetime_;
};

}  // namespace

Result<std::unique_ptr<Engine>> make_native_engine(boost::asio::io_context& io, const TransportOptions& options,
                                                   const PortSecrets& secrets) {
  if (secrets.own.empty()) return std::make_unique<NativeEngine>(io, options, std::nullopt);
  UDTCAT_TRY(PortKeys keys, PortKeys::derive(secrets));
  return std::make_unique<NativeEngine>(io, options, std::move(keys));
}

}  // namespace udtcat::transport::native
