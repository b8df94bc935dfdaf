// SPDX-License-Identifier: Apache-2.0
/// An established UDT connection, as its two loops and its channel see it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "lib/core/mutex.hpp"
#include "lib/transport/channel.hpp"
#include "lib/transport/libudt/port_watch.hpp"
#include "lib/transport/libudt/udt_socket.hpp"

namespace udtcat::transport::libudt {

/// A connected socket and its peer.
struct Established {
  UdtSocket socket;
  Endpoint peer;
  std::shared_ptr<PortWatch> port_watch;
  std::chrono::milliseconds idle_timeout;  ///< within which the peer acknowledges something, where it has room
};

/// Threads: internally synchronised. receive() from one thread at a time, send() from one thread at a time.
class LibudtConnection {
 public:
  using Clock = std::chrono::steady_clock;

  /// Its socket blocks.
  explicit LibudtConnection(Established established);
  ~LibudtConnection();

  /// How many bytes libudt had for us; 0 when none came within kBlockingCallLimit.  errors: Errc::connection_broken
  [[nodiscard]] Result<std::size_t> receive(std::span<std::byte> into);
  /// How many bytes libudt took; 0 when it took none within kBlockingCallLimit. `last`: nothing is known to follow.
  /// errors: Errc::connection_broken
  [[nodiscard]] Result<std::size_t> send(std::span<const std::byte> from, bool last);
  /// Whether the peer's libudt has acknowledged all that was sent.  errors: Errc::connection_broken, it never will
  [[nodiscard]] Result<bool> drained();

  /// From now on ended_in_order() can tell; receive() and note_end() are then to be called twice a second or so.
  void watch_its_end();
  /// Takes note when the connection has ended.
  void note_end();
  /// Once receive() has failed: the peer said that it closes, and all that came before has been read. libudt does not
  /// say so. Known from the silence before the end, which is long where libudt gave the peer up.
  [[nodiscard]] bool ended_in_order();
  /// Keeps the last statistics. May be called again.
  void close();

  [[nodiscard]] ChannelStats stats();
  [[nodiscard]] std::optional<Clock::time_point> port_closed_since();
  [[nodiscard]] const Endpoint& peer() const { return peer_; }

 private:
  [[nodiscard]] Error broken(const char* doing) const;
  [[nodiscard]] Status check_answers();
  [[nodiscard]] std::optional<int> unacknowledged_packets() const;
  [[nodiscard]] bool has_nothing_unread() const;  // libudt counts packets, and what was read of one is not told
  void note_all_read();

  UdtSocket socket_;                              // constant after construction
  const Endpoint peer_;                           // constant after construction
  const std::size_t payload_bytes_;               // constant after construction: of a full packet
  const std::shared_ptr<PortWatch> port_watch_;   // synchronises itself
  const std::chrono::milliseconds idle_timeout_;  // constant after construction
  std::atomic<std::int64_t> packets_given_{0};    // to libudt
  std::atomic<std::uint64_t> bytes_received_{0};
  std::atomic<Clock::duration> last_byte_at_;
  std::atomic<bool> end_is_watched_{false};
  std::atomic<bool> bytes_dropped_{false};
  core::Mutex mutex_;
  std::optional<bool> ended_amid_talk_ UDTCAT_GUARDED_BY(mutex_);     // known from the end on
  std::optional<int> left_unacknowledged_ UDTCAT_GUARDED_BY(mutex_);  // as ended_amid_talk_
  bool all_read_ UDTCAT_GUARDED_BY(mutex_) = false;  // after the end, and libudt has nothing more for us
  ChannelStats last_stats_ UDTCAT_GUARDED_BY(mutex_);
  std::int64_t packets_answered_ UDTCAT_GUARDED_BY(mutex_) = 0;  // of packets_given_, when answers_checked_
  Clock::time_point answered_at_ UDTCAT_GUARDED_BY(mutex_);      // or all was, or the peer had no room
  Clock::time_point answers_checked_ UDTCAT_GUARDED_BY(mutex_);
};

}  // namespace udtcat::transport::libudt
