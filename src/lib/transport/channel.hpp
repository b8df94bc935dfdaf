// SPDX-License-Identifier: Apache-2.0
/// The seam between the session and a transport: a reliable, ordered, unauthenticated byte pipe.
///
/// Nothing a channel says is believed: its end is not the end of a stream, and its bytes are checked above.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include <udtcat/endpoint.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>
#include <udtcat/stats.hpp>

#include "lib/core/shared_bytes.hpp"

namespace udtcat::transport {

/// The cause of Errc::cannot_reach when the host answered that the port is closed.
inline constexpr const char* kPortClosed = "nobody listens on that UDP port (ICMP port unreachable)";
inline constexpr const char* kTcpPortClosed = "nobody listens on that TCP port (connection refused)";
/// The cause of Errc::cannot_reach when the port is open and its owner takes no more connections.
inline constexpr const char* kTurnedAway = "the other end takes no more connections on that port";

struct ChannelStats : TransportStats {
  std::uint64_t bytes_received = 0;  ///< in order, also of a read in progress: the sign of life
};

/// It breaks by itself when the peer is silent, or acknowledges nothing of what it has said to have room for, during
/// TransportOptions::idle_timeout; a peer that says it has no room may take its time.
/// Threads: confined to the io_context thread it was made for; handlers are posted there. After close() every
/// outstanding handler is still called once: a read's with Errc::connection_broken, a write's as its bytes are taken,
/// one that waits for the drain as it comes about, or both, when the drain is over, with Errc::connection_broken. After
/// destruction none is called.
class Channel {
 public:
  using ReadHandler = std::function<void(Status)>;
  using ReadSomeHandler = std::function<void(Result<std::size_t>)>;
  using WriteHandler = std::function<void(Status)>;
  using DrainedHandler = std::function<void(Status)>;
  using DatagramHandler = std::function<void(std::span<const std::byte>)>;

  virtual ~Channel() = default;

  /// Reads at least `least_bytes`, more than 0, and what else is there by then; gives how many. One read at a time;
  /// `into`, which has room for them, stays valid until the handler.
  /// errors: Errc::connection_broken, sticky, whether the peer closed, vanished or was shut down by a forgery
  virtual void async_read_least(std::span<std::byte> into, std::size_t least_bytes, ReadSomeHandler handler) = 0;

  /// Reads exactly into.size() bytes, else as async_read_least().
  void async_read(std::span<std::byte> into, ReadHandler handler) {
    async_read_least(into, into.size(), [handler = std::move(handler)](const Result<std::size_t>& read) {
      handler(read ? Status() : tl::unexpected(read.error()));
    });
  }

  /// Reads what there is, waiting for the first byte; `into` is not empty and stays valid until the handler. Counts as
  /// the one read at a time. 0: the peer closed in order, and all that had arrived has been read; sticky, unproved.
  /// errors: Errc::connection_broken, sticky, where the peer vanished instead or bytes of it were lost
  virtual void async_read_some(std::span<std::byte> into, ReadSomeHandler handler) = 0;

  /// Takes all of `from`, in the order of the calls, and may share it until the peer's transport has it. Several writes
  /// may be outstanding, the caller bounds them; the handler says that the bytes were taken up and that it is time for
  /// more, not that they arrived.
  virtual void async_write(core::SharedBytes from, WriteHandler handler) = 0;

  /// Calls back when the peer's transport has acknowledged all that was written before this call. One at a time; what
  /// is written after it may wait for it.  errors: Errc::connection_broken, also where the peer closed first
  virtual void async_drained(DrainedHandler handler) = 0;

  /// Stops reading at once; keeps sending what was written until the peer's transport has it all or `drain` is over;
  /// then closes. Returns at once.
  virtual void close(std::chrono::milliseconds drain) = 0;

  /// Closes at once if no more than `bytes_received` bytes have come in order: nothing beyond them was acknowledged, or
  /// will be. Says whether it did.
  [[nodiscard]] virtual bool close_if_silent_since(std::uint64_t bytes_received) {
    if (stats().bytes_received > bytes_received) return false;
    close(std::chrono::milliseconds(0));
    return true;
  }

  /// How many bytes a datagram may have now that goes beside the stream, ahead of all that is written and missing. 0:
  /// there is nothing to be ahead of, or the peer knows of none.
  [[nodiscard]] virtual std::size_t datagram_room_bytes() const { return 0; }
  /// Sends at once, and once: it may be lost, late, changed or come twice. At most datagram_room_bytes().
  virtual void send_datagram(std::span<const std::byte> /*bytes*/) {}
  /// Called for each that comes, with bytes that are valid during the call; not from inside another.
  virtual void on_datagram(DatagramHandler /*handler*/) {}

  /// How many written bytes it may share at a time after their handlers were called: until the peer's transport has
  /// them.
  [[nodiscard]] virtual std::uint64_t retained_limit_bytes() const { return 0; }
  /// Bytes since the beginning of the channel. Those that are acknowledged can be read at the peer, also when the
  /// channel breaks.
  struct Written {
    std::uint64_t bytes = 0;
    std::uint64_t acknowledged = 0;
    /// Since when nothing was acknowledged of what the peer has room for; none: all of that is.
    std::optional<std::chrono::steady_clock::time_point> unanswered_since{};
  };
  /// none: what the peer has is not known; its transport keeps that to itself
  [[nodiscard]] virtual std::optional<Written> written() const { return std::nullopt; }
  /// So much in hand keeps the path busy until more has been asked for and written; what is beyond only waits.
  [[nodiscard]] virtual std::uint64_t ahead_bytes() const { return UINT64_MAX; }
  [[nodiscard]] virtual ChannelStats stats() = 0;
  /// Adds its part: why nothing left, the path, the sockets. As far as it knows.
  virtual void add_end_stats(EndStats& /*end*/) const {}
  [[nodiscard]] virtual Endpoint peer() const = 0;
  /// Accepted from a peer whose first packets proved the engine's key: a reason to give it a place, and no more.
  [[nodiscard]] virtual bool proved_key() const { return false; }
  /// The peer has proved the key, and the session above asks it for a sign of life by itself: what it sends may fill
  /// the channel's memory at once, read or not, and the channel has little to say.
  virtual void trust_peer() {}
  /// See Connection.
  virtual void try_path(const Endpoint& /*address*/) {}
  virtual void watch_path(const std::optional<Endpoint>& /*fallback*/) {}
  [[nodiscard]] virtual bool path_is_silent() const { return false; }
  virtual void set_tunnel(std::function<void(std::span<const std::byte> packet)> /*send*/) {}
  virtual void take_from_tunnel(std::span<const std::byte> /*packet*/) {}
  /// When the peer's host last said that the peer's port is closed (ICMP port unreachable), if it did
  /// since the last byte arrived. Forgeable, so only ever a hint beside silence.
  [[nodiscard]] virtual std::optional<std::chrono::steady_clock::time_point> port_closed_since() = 0;
};

/// Writes first words that did not travel with a handshake. A write that fails ends the channel, and its reads
/// say so.
inline void write_handshake_data(Channel& channel, const core::SharedBytes& words) {
  if (words.size() > 0) channel.async_write(words, [](const Status&) {});
}

}  // namespace udtcat::transport
