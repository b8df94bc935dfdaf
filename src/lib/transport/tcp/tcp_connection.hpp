// SPDX-License-Identifier: Apache-2.0
/// One TCP connection: what is to be sent, how it ends, and whether the peer is there.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/options.hpp>
#include <udtcat/stats.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/core/shared_bytes.hpp"
#include "lib/core/stats_clocks.hpp"
#include "lib/transport/channel.hpp"
#include "lib/transport/tcp/tcp_info.hpp"
#include "lib/transport/tcp/tcp_socket.hpp"

namespace udtcat::transport::tcp {

/// A connection's channel. It may write, read and close from inside a call, and posts what else is to be done.
class ConnectionUser {
 public:
  /// There may be bytes, as wait_readable() asked, or the connection has ended.
  virtual void on_readable() = 0;
  /// The system took bytes, the peer acknowledged some, or the connection has ended.
  virtual void on_sent() = 0;

 protected:
  ~ConnectionUser() = default;
};

///   open ──close()──► draining ──the peer's system has it all──► over
///     └────broken─────────┴──────broken, or out of time─────────────┘
///
/// Threads: confined, as Channel. Nothing waits for the system.
class TcpConnection {
 public:
  using Clock = std::chrono::steady_clock;
  using TimePoint = Clock::time_point;
  enum class State { open, draining, over };
  enum class End { none, peer_closed, broken, silence, no_acknowledgement };

  /// on_over   called once, when nobody uses it and it is over; may destroy it
  TcpConnection(boost::asio::io_context& io, Socket socket, const Endpoint& peer, const TransportOptions& options,
                bool proved, std::function<void()> on_over);

  void use(ConnectionUser& by) { user_ = &by; }
  /// It is left to itself: it drains, if it was closed, and is over.
  void release();

  /// Without waiting. After an end of the peer or a failure each call gives the same.
  [[nodiscard]] Received receive(std::span<std::byte> into);
  /// on_readable() is called once.
  void wait_readable();
  void write(core::SharedBytes bytes);
  void close(std::chrono::milliseconds drain);
  /// on_sent() is called when the peer may have acknowledged more.
  void watch_acknowledgements();
  /// One step without the event loop.
  void drain_on(TimePoint now);

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] End end() const { return end_; }
  [[nodiscard]] int errno_value() const { return errno_value_; }
  /// Nothing is sent any more.
  [[nodiscard]] bool ended() const { return state_ == State::over || end_ != End::none; }
  [[nodiscard]] bool wants_to_send() const { return !queue_.empty(); }
  /// Whether draining has read the peer's end: poll(2) would tell of it again and again.
  [[nodiscard]] bool peer_has_ended() const { return peer_has_ended_; }
  [[nodiscard]] std::uint64_t written_bytes() const { return written_bytes_; }
  [[nodiscard]] std::uint64_t taken_bytes() const { return taken_bytes_; }  ///< of the written, by the system
  [[nodiscard]] std::uint64_t acknowledged_bytes();
  [[nodiscard]] std::uint64_t ahead_bytes() const { return unsent_limit_bytes_; }
  [[nodiscard]] std::uint64_t memory_bytes() const { return options_.memory_bytes; }
  [[nodiscard]] ChannelStats stats();
  void add_end_stats(EndStats& end) const;
  [[nodiscard]] const Endpoint& peer() const { return peer_; }
  [[nodiscard]] bool proved() const { return proved_; }
  [[nodiscard]] int descriptor() { return socket_.native_handle(); }

 private:
  void schedule_flush();
  void flush();
  [[nodiscard]] bool send_some();
  void take(std::size_t bytes);
  void wait_writable();
  void discard_received();
  void finish_drain(TimePoint now);
  void fail_with(End end, int errno_value);
  void become_over();
  void tell_user();
  void arm(TimePoint due);
  void on_timer();
  void look(TimePoint now);
  [[nodiscard]] std::optional<End> end_in(const TcpInfo& info, TimePoint now);
  [[nodiscard]] Clock::duration look_interval() const;
  [[nodiscard]] Clock::duration acknowledgement_interval() const;

  boost::asio::io_context& io_;
  Socket socket_;
  const Endpoint peer_;
  const TransportOptions options_;
  const bool proved_;
  const std::function<void()> on_over_;
  ConnectionUser* user_ = nullptr;  // none: not used yet, or released
  bool released_ = false;
  State state_ = State::open;
  End end_ = End::none;
  int errno_value_ = 0;

  std::deque<core::SharedBytes> queue_;  // not taken by the system yet
  std::size_t front_taken_bytes_ = 0;    // of the first
  std::uint64_t written_bytes_ = 0;
  std::uint64_t taken_bytes_ = 0;
  std::uint64_t received_bytes_ = 0;
  bool flush_scheduled_ = false;
  bool waits_writable_ = false;
  bool waits_readable_ = false;
  bool watches_acknowledgements_ = false;
  bool peer_has_ended_ = false;  // its FIN
  bool end_sent_ = false;        // our FIN
  bool peer_has_all_ = false;    // that one, too
  TimePoint drain_deadline_ = TimePoint::max();

  TcpInfo info_;  // as last looked at
  TimePoint looked_at_{};
  std::uint64_t unsent_limit_bytes_;
  std::uint64_t most_bytes_per_second_ = 0;
  std::uint64_t seen_acknowledged_bytes_ = 0;  // as of the last look; info_ may be younger
  TimePoint acknowledged_at_;                  // or nothing was to be
  std::chrono::microseconds rtt_sum_{0};
  std::uint64_t rtt_samples_ = 0;
  core::StallClock stalls_;
  boost::asio::steady_timer timer_;
  TimePoint armed_for_ = TimePoint::max();
  core::Lifetime lifetime_;
};

}  // namespace udtcat::transport::tcp
