// SPDX-License-Identifier: Apache-2.0
/// Makes channels. The only place that knows which transports there are.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

#include "lib/core/shared_bytes.hpp"
#include "lib/transport/channel.hpp"

namespace udtcat::transport {

inline constexpr std::size_t kInternetMtu = 1500;   // spec: RFC 894
inline constexpr std::size_t kIpv6ExtraBytes = 20;  // spec: RFC 8200 §3 against RFC 791 §3.1

using ChannelHandler = std::function<void(Result<std::unique_ptr<Channel>>)>;
/// The name of an end at a meeting place's relay (docs/spec/meet.md §4).
using RelayToken = std::array<std::byte, 16>;
/// Called with a connection that began with a token, behind it; as a StunHandler.
using RelayHandler =
    std::function<void(boost::asio::ip::tcp::socket socket, const RelayToken& token, const Endpoint& peer)>;
/// Called inside the port's own work: it destroys no channel, acceptor or engine.
using StunHandler = std::function<void(const Endpoint& from, std::span<const std::byte> message)>;

/// A bound, listening port, of UDP or TCP. Threads: confined, as Channel. After destruction no handler is called.
class Acceptor {
 public:
  virtual ~Acceptor() = default;
  /// One accept at a time. Unauthenticated peers that wait for it are few: beyond a small backlog they are not answered
  /// (libudt: refused).
  virtual void async_accept(ChannelHandler handler) = 0;
  /// The addresses bound, with the port that the system chose where 0 was asked. One per address family.
  [[nodiscard]] virtual std::vector<Endpoint> local_endpoints() const = 0;
  /// The TransportOptions::memory_bytes of a channel that comes while `others` are there.
  using MemoryShare = std::function<std::uint64_t(std::size_t others)>;
  /// Of the channels that come from now on; without effect where a channel states no limit.
  virtual void share_memory(MemoryShare /*share*/) {}
  /// Whether a channel with these first words is meant.
  using WordsFilter = std::function<bool(std::span<const std::byte> words)>;
  /// From now on lets in only those that are `wanted`, and refuses the others as a port does that takes no more.
  /// Without effect where the words do not travel with the transport's own handshake.
  virtual void take_only(WordsFilter /*wanted*/) {}
  /// Where threads carry packets, channels with such first words share the thread of another one of their host.
  virtual void keep_beside(WordsFilter /*alike*/) {}
  /// See Listener::send_stun() and on_stun(). Without effect in libudt, whose socket is its own.
  virtual void send_stun(const Endpoint& /*peer*/, std::vector<std::byte> /*message*/) {}
  virtual void on_stun(StunHandler /*handler*/) {}
  /// See Listener::on_relay() and wait_at(). Without effect but by TCP.
  virtual void on_relay(RelayHandler /*handler*/) {}
  virtual void wait_at(const Endpoint& /*relay*/, const RelayToken& /*token*/, const std::string& /*name*/) {}
};

/// Threads: confined, as Channel. Outlives its acceptors and channels.
class Engine {
 public:
  virtual ~Engine() = default;

  /// One attempt. A refusal by ICMP and silence for `patience` are both Errc::cannot_reach; the caller tries again.
  /// Each of a peer leaves from the next of TransportOptions::local_addresses that can be bound; where none can it is
  /// Errc::cannot_bind. Destroying the engine ends the attempt without a call.
  /// handshake_data   the beginning of what the channel sends, which may travel with the transport's own handshake
  virtual void async_connect(const Endpoint& peer, core::SharedBytes handshake_data, std::chrono::milliseconds patience,
                             ChannelHandler handler) = 0;

  struct FlowSettings {
    std::uint64_t memory_bytes = 0;  ///< TransportOptions::memory_bytes of this channel
    /// So many further in TransportOptions::local_addresses than async_connect()'s channel; natively from that alone.
    std::size_t turn = 0;
  };
  /// As async_connect(), for a further flow of a session: by a socket and a source port of its own, where the transport
  /// has those and the user names no port.
  virtual void async_connect_flow(const Endpoint& peer, core::SharedBytes handshake_data,
                                  std::chrono::milliseconds patience, const FlowSettings& /*settings*/,
                                  ChannelHandler handler) {
    async_connect(peer, std::move(handshake_data), patience, std::move(handler));
  }

  /// Whether its channels know what the peer's transport has (Channel::written()).
  [[nodiscard]] virtual bool knows_acknowledged() const { return false; }

  /// Whether somebody has answered an attempt that goes on, or one has come about.
  [[nodiscard]] virtual bool is_answered() const { return false; }

  /// Opens a port from which all that is connected in that family leaves from now on, and which stays open.
  /// returns   its number, which is TransportOptions::dialling_port where that is free
  /// errors: Errc::cannot_bind; Errc::bad_argument with libudt
  [[nodiscard]] virtual Result<std::uint16_t> open_dialling_port(AddressFamily family);
  /// From that port, and what comes there; as an acceptor's.
  virtual void send_stun(const Endpoint& /*peer*/, std::vector<std::byte> /*message*/) {}
  virtual void on_stun(StunHandler /*handler*/) {}

  /// All connections from now on are to a meeting place, which has the listener behind it. Without effect but by TCP.
  virtual void relay_by(const RelayToken& /*token*/) {}

  /// Binds every endpoint given (one per family), all on the same port.  errors: Errc::cannot_bind
  [[nodiscard]] virtual Result<std::unique_ptr<Acceptor>> listen(const std::vector<Endpoint>& locals) = 0;
};

/// The secrets from which a port's keys are derived. It borrows them. See docs/spec/udt4.md §10 and §11.
struct PortSecrets {
  std::span<const std::byte> own;  ///< known to this end alone, or to all that share a key; empty: without a key
  /// The listener's, known to its peers: the key proof of a client is made from it. Empty: this end does not know it.
  std::span<const std::byte> admission_key;
};

/// Of TransportKind::automatic it is the native one: a race with TCP has that engine beside it.
/// secrets   not needed after the call
/// errors: Errc::out_of_resources; Errc::cipher_failed; Errc::bad_argument for one that this program does not have
[[nodiscard]] Result<std::unique_ptr<Engine>> make_engine(boost::asio::io_context& io, const TransportOptions& options,
                                                          const PortSecrets& secrets = {});

namespace native {

/// Our own UDT4 engine; see make_engine().  errors: Errc::out_of_resources, Errc::cipher_failed
[[nodiscard]] Result<std::unique_ptr<Engine>> make_native_engine(boost::asio::io_context& io,
                                                                 const TransportOptions& options,
                                                                 const PortSecrets& secrets);

}  // namespace native

namespace tcp {

/// The system's TCP; see make_engine() and docs/spec/tcp.md. Of the options it takes `rate` and `idle_timeout`, the
/// others are the system's.  errors: Errc::cipher_failed
[[nodiscard]] Result<std::unique_ptr<Engine>> make_tcp_engine(boost::asio::io_context& io,
                                                              const TransportOptions& options,
                                                              const PortSecrets& secrets);

}  // namespace tcp

/// Debian's libudt as an Engine; or, where absent.cpp is linked in its place, the lack of it.
namespace libudt {

extern const bool kIsLinked;

/// errors: Errc::out_of_resources; Errc::bad_argument where it is not linked
[[nodiscard]] Result<std::unique_ptr<Engine>> make_libudt_engine(boost::asio::io_context& io,
                                                                 const TransportOptions& options);

}  // namespace libudt

}  // namespace udtcat::transport
