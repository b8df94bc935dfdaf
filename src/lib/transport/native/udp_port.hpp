// SPDX-License-Identifier: Apache-2.0
/// The driver: one UDP socket, the connections on it, the clock, the timers. Everything else in this module is told
/// what time it is.
///
///   readable ─► trains ─► packets ─► the connection each is for ─► its channel ─► trains ─► socket
///
/// All of it runs on the io_context's thread (ADR-0012).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/options.hpp>
#include <udtcat/result.hpp>
#include <udtcat/stats.hpp>
#include <udtcat/units.hpp>

#include "lib/core/chunk.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/net/datagram_socket.hpp"
#include "lib/transport/engine.hpp"
#include "lib/transport/native/admission.hpp"
#include "lib/transport/native/congestion/flow_group.hpp"
#include "lib/transport/native/connection_table.hpp"
#include "lib/transport/native/embryonic_connections.hpp"
#include "lib/transport/native/other_ports.hpp"
#include "lib/transport/native/overload_detector.hpp"
#include "lib/transport/native/port_transmitter.hpp"
#include "lib/transport/native/receive_coalescing.hpp"
#include "lib/transport/native/socket_wait.hpp"
#include "lib/transport/native/tunnel.hpp"

namespace udtcat::transport::native {

// libudt's slow start ends for good where it exceeds this; the first ACK says what there is really room for.
inline constexpr std::uint32_t kFirstFlowWindow = 8192;  // spec: UDT4, libudt's own

inline constexpr std::size_t kReceiveBufferBytes =
    8 * kMiB;  // guess: 6 ms at 10 Gbit/s; of one socket, or of several together

/// Threads: confined, as Channel. Handlers are never called from inside the call that took them.
class UdpPort final : public LinkPort {
 public:
  /// mss    the largest that this port's interface carries
  /// keys   none: without a key; not needed after the call.  errors: Errc::cannot_bind, Errc::cipher_failed
  [[nodiscard]] static Result<std::unique_ptr<UdpPort>> create(boost::asio::io_context& io, net::UdpSocket socket,
                                                               const TransportOptions& options, std::uint32_t mss,
                                                               const PortKeys* keys);
  /// One of several at the address of another.
  /// socket   made beside that one's
  /// others   outlive this.  errors: Errc::cipher_failed
  [[nodiscard]] static Result<std::unique_ptr<UdpPort>> create_beside(boost::asio::io_context& io,
                                                                      net::DatagramSocket socket,
                                                                      const TransportOptions& options,
                                                                      std::uint32_t mss, OtherPorts& others);
  ~UdpPort() = default;
  UdpPort(const UdpPort&) = delete;
  UdpPort& operator=(const UdpPort&) = delete;

  [[nodiscard]] const Endpoint& local() const { return local_; }

  /// One attempt; see Engine::async_connect(). The handler's link is to be released.  errors: Errc::cipher_failed
  [[nodiscard]] Status open(const Endpoint& peer, core::SharedBytes handshake_data, std::chrono::milliseconds patience,
                            EmbryonicConnections::Handler handler);
  /// Lets clients in from now on.
  void listen(Admission::ListenHandlers handlers) { admission_.listen(std::move(handlers)); }
  void stop_listening() { admission_.stop_listening(); }
  /// See Acceptor.
  void take_only(Acceptor::WordsFilter wanted) { admission_.take_only(std::move(wanted)); }
  void keep_beside(Acceptor::WordsFilter alike) { admission_.keep_beside(std::move(alike)); }
  /// See Acceptor::share_memory().
  void share_memory(std::function<std::uint64_t(std::size_t others)> share) { memory_share_ = std::move(share); }
  /// See Acceptor.
  void send_stun(const Endpoint& peer, std::vector<std::byte> message);
  void on_stun(StunHandler handler) { on_stun_ = std::move(handler); }
  /// The groups of the engine's ports on this thread. By default the port has its own.
  void couple_by(std::shared_ptr<FlowGroups> groups) { flow_groups_ = std::move(groups); }
  /// Any local port will do: where a peer is silent packets leave from another one, which the peer follows (udt4.md
  /// §9).
  void let_rebind() { may_rebind_ = true; }

  // ---- Of several ports at one address
  /// This is the first; `others` outlive it.
  void lead(OtherPorts& others) {
    others_ = &others;
    leads_ = true;
  }
  [[nodiscard]] Result<net::DatagramSocket> open_beside() const;
  /// See DatagramSocket.
  [[nodiscard]] Status steer(std::uint32_t ports, std::uint32_t open_ports) { return socket_.steer(ports, open_ports); }
  /// See ConnectionTable.
  [[nodiscard]] std::size_t own_connections() const { return connections_.own_size(); }
  [[nodiscard]] std::optional<std::uint32_t> port_of(const Endpoint& peer, bool any_port) const {
    return connections_.port_of(peer, any_port);
  }
  /// Let in by the first.
  [[nodiscard]] UdtLink& adopt(const AdoptedLink& link);
  /// From another port.
  struct IncomingDatagram {
    std::vector<std::byte> packet;
    Endpoint from;
    std::optional<Endpoint> to;
    std::chrono::nanoseconds arrived{0};
  };
  void take_handed_over(const IncomingDatagram& datagram);
  void take_path_errors(TimePoint now, const std::vector<net::PathError>& errors);
  /// A connection of another port is over.
  /// shutdown   by which the peer is told for a while; empty: it is not
  void forget_elsewhere(std::uint32_t id, const Endpoint& peer, std::vector<std::byte> shutdown);
  void note_path(const Endpoint& peer, const KnownPath& path) {
    if (options_.known_paths) options_.known_paths->note(peer, path);
  }

  void add_end_stats(EndStats& end) const override {
    end.socket_drops = socket_.receive_drops();
    end.socket_buffer_bytes = buffer_bytes_;
    end.socket_wanted_bytes = 2 * kReceiveBufferBytes;  // the kernel counts twice what it is asked for
  }
  void set_tunnel(AddressFamily family, std::function<void(std::span<const std::byte>)> send) override {
    tunnel_.open(family, std::move(send));
  }
  void take_from_tunnel(std::span<const std::byte> packet) override;
  /// Whether there is no connection, and none being opened.
  [[nodiscard]] bool idle() const { return connections_.empty() && embryonic_.empty(); }
  /// See Engine.
  [[nodiscard]] bool is_answered() const { return !connections_.empty() || embryonic_.is_answered(); }
  /// Works without the io_context until every link has drained; none is used any more.
  void finish();

 private:
  UdpPort(boost::asio::io_context& io, net::DatagramSocket socket, const Endpoint& local,
          const TransportOptions& options, std::uint32_t mss, Admission admission);

  void wait_readable();
  void on_readable();
  std::size_t receive_some();
  void handle_train(TimePoint now, const net::ReceivedTrain& train);
  void handle_packet(TimePoint now, std::span<const std::byte> packet, const net::ReceivedTrain& train);
  [[nodiscard]] bool hand_over(std::uint32_t id, std::span<const std::byte> packet, const net::ReceivedTrain& train);
  void handle_listener_packet(TimePoint now, std::span<const std::byte> packet, const net::ReceivedTrain& train);
  void handle_reset(const StatelessReset& reset, std::span<const std::byte> packet, const net::ReceivedTrain& train);
  [[nodiscard]] bool handle_stun(std::span<const std::byte> packet, const net::ReceivedTrain& train);
  void answer(std::vector<std::byte> packet, const net::ReceivedTrain& to);
  void touch(UdtLink& link);
  void flush_touched();

  void accept(TimePoint now, PassiveOpen::Outcome& outcome, const net::ReceivedTrain& train);

  [[nodiscard]] Result<PassiveOpen::Numbers> draw_numbers(const Endpoint& peer, std::uint32_t port);
  [[nodiscard]] bool is_free(std::uint32_t id) const;
  UdtLink& connect(TimePoint now, const ConnectionSettings& agreed);
  [[nodiscard]] ConnectionSettings complete(TimePoint now, ConnectionSettings settings) const;
  UdtLink& add_link(ConnectionSettings settings, bool proved_key);
  void on_scheduled(UdtLink& link) override { flush(link); }
  void on_timer(UdtLink& link) override;
  void flush(UdtLink& link);
  void forget(UdtLink& link);

  void take_path_errors(TimePoint now);
  [[nodiscard]] std::optional<KnownPath> path_to(const Endpoint& peer) const;
  void note_path(const UdtConnection& connection);
  void log_trains_off(UdtLink& link);
  void rebind_if_silent(TimePoint now, const UdtLink& link);
  [[nodiscard]] Status rebind();

  boost::asio::io_context& io_;
  const Endpoint local_;
  const TransportOptions options_;
  std::function<std::uint64_t(std::size_t)> memory_share_;  // none: each link has what the options say
  const std::uint32_t mss_;
  OtherPorts* others_ = nullptr;  // none: it is alone at its address
  bool leads_ = false;            // the first of them
  bool handed_over_ = false;      // the packet being handled was

  core::ChunkPool chunks_;
  net::DatagramSocket socket_;
  const std::size_t buffer_bytes_;
  Tunnel tunnel_;
  SocketWait wait_;
  ReceiveCoalescing coalescing_;
  OverloadDetector overload_;
  std::vector<net::ReceivedTrain> trains_;
  std::uint32_t wakes_ = 0;

  std::shared_ptr<FlowGroups> flow_groups_ = std::make_shared<FlowGroups>();
  ConnectionTable connections_;
  Admission admission_;
  PortTransmitter transmitter_;
  EmbryonicConnections embryonic_;
  StunHandler on_stun_;                             // none: it is passed over
  const net::ReceivedTrain* stun_train_ = nullptr;  // of the message that its handler is told of
  std::vector<UdtLink*> touched_;                   // null: forgotten since

  bool may_rebind_ = false;
  TimePoint rebound_at_{};
  std::vector<net::DatagramSocket> left_;  // before each rebind: closed, they would tell the peer that we are gone
  core::Lifetime lifetime_;
};

}  // namespace udtcat::transport::native
