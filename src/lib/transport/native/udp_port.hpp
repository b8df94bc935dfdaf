// SPDX-License-Identifier: Apache-2.0
/// The driver: one UDP socket, the connections on it, the clock, the timers. Everything else in this room is told what
/// time it is.
///
///   readable ─► trains ─► packets ─► the connection each is for ─► its channel ─► trains ─► socket
///
/// All of it runs on the io_context's thread (ADR-0012).
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/options.hpp>
#include <udtcat/result.hpp>
#include <udtcat/stats.hpp>
#include <udtcat/units.hpp>

#include "lib/core/chunk.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/net/datagram_socket.hpp"
#include "lib/transport/native/listener_gate.hpp"
#include "lib/transport/native/openings.hpp"
#include "lib/transport/native/udt_connection.hpp"
#include "lib/transport/native/wake_moderation.hpp"

namespace udtcat::transport::native {

// libudt's slow start ends for good where it exceeds this; the first ACK says what there is really room for.
inline constexpr std::uint32_t kFirstFlowWindow = 8192;  // spec: UDT4, libudt's own

inline constexpr std::size_t kReceiveBufferBytes =
    8 * kMiB;  // guess: 6 ms at 10 Gbit/s; of one socket, or of several together

/// A connection's address and socket number at its peer.
struct PeerName {
  Endpoint address;  // at the handshake
  std::uint32_t id = 0;
  friend bool operator<(const PeerName& a, const PeerName& b) {
    if (a.id != b.id) return a.id < b.id;
    if (a.address.size_bytes() != b.address.size_bytes()) return a.address.size_bytes() < b.address.size_bytes();
    return std::memcmp(a.address.data(), b.address.data(), a.address.size_bytes()) < 0;
  }
};

/// A connection at its port: what the driver keeps beside the protocol.
///
///   unaccepted ──use()──► used ──release()──► released ──the connection is over──► forgotten
///
/// Threads: confined, as Channel.
struct UdtLink {
  UdtLink(boost::asio::io_context& io, const ConnectionSettings& settings, bool proved_key, core::ChunkPool& chunks)
      : connection(settings, chunks), name{settings.peer_address, settings.peer_id}, proved(proved_key), timer(io) {}

  enum class State { unaccepted, used, released };

  UdtConnection connection;
  const PeerName name;
  const bool proved;  // let in, and held the key (KeyProof)
  State state = State::unaccepted;
  std::function<void()> on_progress;  // see UdpPort::use(); none: not used
  boost::asio::steady_timer timer;
  TimePoint armed_for = TimePoint::max();
  bool trains_off = false;  // told
  bool flush_scheduled = false;
  bool touched = false;                    // by the datagrams being handled
  std::uint64_t backlog_number = 0;        // of the port's, in which it last brought bytes
  std::uint64_t backlog_bytes = 0;         // that it brought in that one
  std::uint64_t overloads = 0;             // of this host, to which it brought its share
  std::vector<std::byte> handshake_reply;  // for a client that did not hear it; empty at the connecting end
};

/// Threads: confined, as Channel. Handlers are never called from inside the call that took them.
class UdpPort {
 public:
  /// mss    the largest that this port's interface carries
  /// keys   none: without a key; not needed after the call.  errors: Errc::cannot_bind, Errc::cipher_failed
  [[nodiscard]] static Result<std::unique_ptr<UdpPort>> create(boost::asio::io_context& io, net::UdpSocket socket,
                                                               const TransportOptions& options, std::uint32_t mss,
                                                               const PortKeys* keys);
  ~UdpPort();
  UdpPort(const UdpPort&) = delete;
  UdpPort& operator=(const UdpPort&) = delete;

  [[nodiscard]] const Endpoint& local() const { return local_; }

  // ---- Opening
  /// One attempt; see Engine::async_connect(). The handler's link is to be released.  errors: Errc::cipher_failed
  [[nodiscard]] Status open(const Endpoint& peer, core::SharedBytes first_words, std::chrono::milliseconds patience,
                            Openings::Handler handler);

  /// has_room   whether one more may be let in that has, or has not, proved the key
  /// on_link    told of each that is let in; it is to be released
  struct ListenHandlers {
    std::function<bool(bool proved)> has_room;
    std::function<void(UdtLink&)> on_link;
  };
  /// Lets clients in from now on.
  void listen(ListenHandlers handlers) { listening_ = std::move(handlers); }
  void stop_listening() { listening_.reset(); }
  /// See Acceptor::share_memory().
  void share_memory(std::function<std::uint64_t(std::size_t others)> share) { memory_share_ = std::move(share); }

  /// The port is any: where a peer is silent it takes another, which the peer follows (udt4.md §9).
  void let_rebind() { may_rebind_ = true; }

  // ---- For the user of a link, which is there until it is released, and whose connection it uses directly
  /// on_progress   called when the connection has made progress: bytes came or left, or it ended. May write, read and
  ///               close, and posts what else is to be done
  void use(UdtLink& link, std::function<void()> on_progress);
  /// To be called after each write and close, and where the connection's deadline may have come nearer. Calls
  /// on_progress soon.
  void schedule(UdtLink& link);
  /// The link is left to itself: it drains, if it was closed, and is forgotten.
  void release(UdtLink& link);

  /// Adds the drops and the sizes of its sockets.
  void add_end_stats(EndStats& end) const {
    end.socket_drops = socket_.receive_drops();
    end.socket_buffer_bytes = buffer_bytes_;
    end.socket_wanted_bytes = 2 * kReceiveBufferBytes;  // the kernel counts twice what it is asked for
  }
  /// See Connection.
  void set_tunnel(AddressFamily family, std::function<void(std::span<const std::byte>)> send);
  void take_from_tunnel(std::span<const std::byte> packet);
  /// Whether there is no connection, and none being opened.
  [[nodiscard]] bool idle() const { return links_.empty() && openings_.empty(); }
  /// Works without the io_context until every link has drained; none is used any more.
  void finish();

 private:
  UdpPort(boost::asio::io_context& io, net::DatagramSocket socket, const Endpoint& local,
          const TransportOptions& options, std::uint32_t mss, ListenerGate gate);
  void wait_readable();
  void wait_writable();
  void wait_for_memory();
  void send_what_waited();
  void on_readable();
  void wait_gathered(Duration gather);
  std::size_t receive_some();
  void begin_backlog();
  void note_backlog(std::size_t taken_bytes);
  void tell_overload();
  void take_path_errors(TimePoint now);

  void handle_train(TimePoint now, const net::ReceivedTrain& train);
  void handle_packet(TimePoint now, std::span<const std::byte> packet, const net::ReceivedTrain& train);
  void handle_listener_packet(TimePoint now, std::span<const std::byte> packet, const net::ReceivedTrain& train);
  void handle_reset(const StatelessReset& reset, const Endpoint& from);
  void touch(UdtLink& link);
  [[nodiscard]] UdtLink* known_client(std::span<const std::byte> packet, const Endpoint& from);
  [[nodiscard]] std::optional<PassiveOpen::Numbers> admit(bool proved, const Endpoint& from);
  [[nodiscard]] Result<PassiveOpen::Numbers> draw_numbers(const Endpoint& peer);
  void settle_touched();

  [[nodiscard]] std::optional<KnownPath> path_to(const Endpoint& peer) const;
  UdtLink& connect(TimePoint now, const ConnectionSettings& agreed);
  UdtLink& add_link(TimePoint now, ConnectionSettings settings, bool proved_key);

  void settle(UdtLink& link);
  [[nodiscard]] static net::DatagramSocket::Options socket_options(const TransportOptions& options, std::uint32_t mss);
  void rebind_if_silent(TimePoint now, const UdtLink& link);
  [[nodiscard]] Status rebind();
  void tell_trains_off(UdtLink& link);
  void note_path(const UdtConnection& connection);
  void transmit(UdtLink& link);
  [[nodiscard]] bool send(UdtLink& link);
  net::SendResult send(const net::DatagramTrain& train);
  void answer(std::vector<std::byte> packet, const net::ReceivedTrain& to);
  /// `packet` is not empty.
  net::SendResult send_alone(std::vector<std::byte> packet, const Endpoint& to, const std::optional<Endpoint>& from);
  void arm(UdtLink& link, TimePoint now);
  void forget(UdtLink& link);

  boost::asio::io_context& io_;
  const Endpoint local_;
  const TransportOptions options_;
  std::function<std::uint64_t(std::size_t)> memory_share_;  // none: each link has what the options say
  const std::uint32_t mss_;
  core::ChunkPool chunks_;
  net::DatagramSocket socket_;
  std::vector<net::DatagramSocket>
      left_;         // before the port was another: closed, they would tell the peer that we are gone
  Endpoint tunnel_;  // its address
  std::function<void(std::span<const std::byte>)> into_tunnel_;  // none: there is no tunnel
  std::vector<std::byte> tunnelled_;                             // a packet, gathered
  bool may_rebind_ = false;
  TimePoint rebound_at_{};
  boost::asio::posix::stream_descriptor readable_;  // socket_'s; open while it is watched
  boost::asio::posix::stream_descriptor writable_;  // a duplicate; open while the socket has no room
  boost::asio::steady_timer gather_timer_;
  boost::asio::steady_timer memory_timer_;
  const std::size_t buffer_bytes_;
  WakeModeration moderation_;
  Duration least_rtt_{0};            // of the connections that the last wake-up was for
  std::uint64_t woken_bytes_ = 0;    // received since
  std::uint64_t backlog_bytes_ = 0;  // of buffers, received since the socket was last emptied, or an overload told
  std::uint64_t backlog_number_ = 0;
  std::uint64_t drops_told_ = 0;
  ListenerGate gate_;
  std::optional<ListenHandlers> listening_;  // none: no clients are let in

  std::unordered_map<std::uint32_t, std::unique_ptr<UdtLink>> links_;  // by our number
  std::map<PeerName, UdtLink*> by_peer_;                               // the same, by the peer's
  std::size_t proved_links_ = 0;                                       // of them
  Openings openings_;
  std::vector<UdtLink*> touched_;
  std::vector<net::ReceivedTrain> trains_;
  TrainBuilder builder_;
  TrainBuilder stray_;          // replies to packets of no connection
  UdtLink* blocked_ = nullptr;  // whose train waits in builder_ for room in the socket
  bool may_fragment_ = true;    // how the socket is set
  std::uint32_t wakes_ = 0;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::transport::native
