/// The driver: one UDP socket, the connections on it, the clock, the timers. Everything else in this room is told what
/// time it is.
///
///   readable ─► trains ─► packets ─► the connection each is for ─► its channel ─► trains ─► socket
///
/// All of it runs on the io_context's thread (ADR-0012).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

#include "lib/core/chunk.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/net/datagram_socket.hpp"
#include "lib/transport/native/active_open.hpp"
#include "lib/transport/native/listener_gate.hpp"
#include "lib/transport/native/udt_link.hpp"
#include "lib/transport/native/wake_moderation.hpp"

namespace udtcat::transport::native {

// libudt's slow start ends for good where it exceeds this; the first ACK says what there is really room for.
inline constexpr std::uint32_t kFirstFlowWindow = 8192;  // spec: UDT4, libudt's own

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
  using OpenHandler = std::function<void(Result<UdtLink*>)>;
  using OpenId = std::uint32_t;
  /// One attempt; see Engine::async_connect(). Who gets the link must release() it.  errors: Errc::cipher_failed
  [[nodiscard]] Result<OpenId> open(const Endpoint& peer, std::chrono::milliseconds patience, OpenHandler handler);

  /// Lets clients in from now on. `on_link` is told of each; false: there is no room now for one more that has, or has
  /// not, proved the key.
  struct Welcome {
    std::function<bool(bool proved)> has_room;
    std::function<void(UdtLink&)> on_link;
  };
  void listen(Welcome welcome) { welcome_ = std::move(welcome); }
  void stop_listening() { welcome_.reset(); }

  // ---- For the user of a link, which is there until it calls release(), and whose connection it uses directly
  /// To be called after each write and close, and where the connection's deadline may have come nearer. Calls
  /// on_progress soon.
  void schedule(UdtLink& link);
  /// The link is left to itself: it drains, if it was closed, and is forgotten.
  void release(UdtLink& link);

  /// Whether there is no connection, and none being opened.
  [[nodiscard]] bool idle() const { return links_.empty() && openings_.empty(); }
  /// Works without the io_context until every link has drained. Nobody uses one any more.
  void finish();

 private:
  struct Opening {
    Opening(boost::asio::io_context& io, ActiveOpen how, TimePoint give_up_at, OpenHandler told)
        : open(std::move(how)), until(give_up_at), handler(std::move(told)), timer(io) {}
    ActiveOpen open;
    TimePoint until;
    OpenHandler handler;
    boost::asio::steady_timer timer;
    std::string likely_cause;  // why there may be no answer
  };

  UdpPort(boost::asio::io_context& io, net::DatagramSocket socket, const Endpoint& local,
          const TransportOptions& options, std::uint32_t mss, ListenerGate gate);
  void wait_readable();
  [[nodiscard]] bool watch();
  void wait_writable();
  void wait_for_memory();
  void send_what_waited();
  void on_readable();
  void wait_gathered(Duration gather);
  std::size_t receive_some(TimePoint now);
  void take_path_errors(TimePoint now);

  void handle_train(TimePoint now, const net::ReceivedTrain& train);
  void handle_packet(TimePoint now, std::span<const std::byte> packet, const net::ReceivedTrain& train);
  void handle_listener_packet(TimePoint now, std::span<const std::byte> packet, const net::ReceivedTrain& train);
  void handle_opening_packet(TimePoint now, Opening& opening, std::span<const std::byte> packet, const Endpoint& from);
  void handle_reset(const Reset& reset, const Endpoint& from);
  void touch(UdtLink& link);
  [[nodiscard]] UdtLink* known_client(std::span<const std::byte> packet, const Endpoint& from);
  [[nodiscard]] std::optional<PassiveOpen::Numbers> draw_numbers(bool proved, const Endpoint& from);
  void settle_touched();

  void run_opening(OpenId id);
  void finish_opening(OpenId id, Result<UdtLink*> result);
  UdtLink& add_link(TimePoint now, ConnectionSettings settings, bool proved);

  void settle(UdtLink& link);
  void transmit(UdtLink& link);
  [[nodiscard]] bool send(UdtLink& link);
  void answer(std::vector<std::byte> packet, const net::ReceivedTrain& to);
  /// `packet` is not empty.
  net::SendResult send_alone(std::vector<std::byte> packet, const Endpoint& to, const std::optional<Endpoint>& from);
  void arm(UdtLink& link, TimePoint now);
  void forget(UdtLink& link);
  void warn_of_drops();

  boost::asio::io_context& io_;
  const Endpoint local_;
  const TransportOptions options_;
  const std::uint32_t mss_;
  core::ChunkPool chunks_;
  net::DatagramSocket socket_;
  boost::asio::posix::stream_descriptor
      descriptor_;  // watches socket_'s descriptor, which is not its own; not open while it does not
  boost::asio::steady_timer gather_timer_;
  boost::asio::steady_timer memory_timer_;
  WakeModeration moderation_;
  Duration least_rtt_{0};  // of the connections that the last look was for
  std::uint64_t looked_bytes_ = 0;
  ListenerGate gate_;
  std::optional<Welcome> welcome_;

  std::unordered_map<std::uint32_t, std::unique_ptr<UdtLink>> links_;  // by our number
  std::map<PeerName, UdtLink*> by_peer_;                               // the same, by the peer's
  std::size_t proved_links_ = 0;                                       // of them
  std::unordered_map<OpenId, std::unique_ptr<Opening>> openings_;      // by our number
  std::vector<UdtLink*> touched_;
  std::vector<net::ReceivedTrain> trains_;
  TrainBuilder builder_;
  TrainBuilder stray_;          // replies to nobody's connection
  UdtLink* blocked_ = nullptr;  // whose train waits in builder_ for room in the socket
  bool writable_awaited_ = false;
  bool may_fragment_ = true;  // how the socket is set
  std::uint64_t drops_warned_of_ = 0;
  std::uint32_t wakes_ = 0;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::transport::native
