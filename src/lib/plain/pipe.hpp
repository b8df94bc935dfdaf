// SPDX-License-Identifier: Apache-2.0
/// A local stream over a channel, without session, frames or authentication.
///
///   source ─ read_some ─► piece ─► Channel.async_write           pull()
///   sink ◄─ async_write_some ◄─ piece ◄─ Channel.async_read_some  read_on()
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/plain.hpp>

#include "lib/core/buffer.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/core/stats_clocks.hpp"
#include "lib/transport/channel.hpp"

namespace udtcat::plain {

inline constexpr std::size_t kPieceBytes = 256 * kKiB;  // guess: the default block; bench/run plain-20ms-0%
inline constexpr std::size_t kMaxWrites = 4;            // guess: outstanding at a time
inline constexpr std::size_t kMaxArrivedPieces = 4;     // guess: read and not yet written
// After our last byte is acknowledged: bytes that the peer had sent by then are still on their way.
inline constexpr std::chrono::milliseconds kPeerDrainQuiet{100};  // spec: docs/man/udtcat-plain.1, DESCRIPTION
inline constexpr std::chrono::milliseconds kMaxPeerDrain{2'000};  // spec: docs/man/udtcat-plain.1, DESCRIPTION

///   outgoing:  open ◄──the source has nothing, has something──► waiting
///              open ──source ends──► draining ──acknowledged, or the connection ends──► ended
///                └──────── source is empty from the start, read failed ──────────────────┘
///   incoming:  open ──peer closes──► closed_by_peer;  open ──connection breaks, peer is drained──► ended
///   the pipe:  open ──neither half goes on──► closed ──the sink has all──► finishing ──the consumer has it──► over
///              any ──abort(), a write fails──► over
///
/// Threads: confined, as PlainPipe.
class Pipe final : public PlainPipe {
 public:
  /// keep_alive   what the channel needs to live: its engine
  Pipe(boost::asio::io_context& io, std::unique_ptr<transport::Channel> channel, std::shared_ptr<void> keep_alive);

  void bridge(std::unique_ptr<LocalStream> local, bool receives, DoneHandler done) override;
  void abort(const Error& reason) override;
  [[nodiscard]] ConnectionStats stats() override;
  [[nodiscard]] Endpoint peer() const override { return channel_->peer(); }

 private:
  using Clock = std::chrono::steady_clock;
  enum class State { open, closed, finishing, over };
  enum class Outgoing { open, waiting, draining, ended };
  enum class Incoming { open, closed_by_peer, ended };
  struct Arrived {
    core::Buffer memory;
    std::span<const std::byte> rest;
  };

  void pull();
  void wait_for_source();
  void send_piece();
  void on_sent(const Status& status);
  void on_source_end();
  void drain();
  void on_drained(const Status& status);
  void record_undelivered(Error error);

  void read_on();
  void on_read(const Result<std::size_t>& read);
  void on_peer_closed();
  [[nodiscard]] bool source_has_more();
  void drain_peer(Clock::time_point until);

  void write_on();
  void on_written(std::error_code error, std::size_t bytes);

  void arm_tick();
  void check_peer_port();
  void break_off(Error error);
  void close_if_ended();
  void end(std::optional<Error> error);

  const std::shared_ptr<void> keep_alive_;  // destroyed last
  boost::asio::io_context& io_;
  bool receives_ = true;
  DoneHandler done_;
  State state_ = State::open;
  std::optional<Error> error_;
  std::optional<Error> undelivered_;  // why the peer did not get all; counts if nothing else is wrong

  Outgoing outgoing_ = Outgoing::open;
  std::size_t writes_ = 0;              // outstanding with the channel
  std::shared_ptr<std::byte[]> piece_;  // being filled, shared with the writes that took its front
  std::span<std::byte> room_;           // the rest of piece_
  const std::chrono::steady_clock::time_point made_at_ = std::chrono::steady_clock::now();
  std::uint64_t sent_bytes_ = 0;

  Incoming incoming_ = Incoming::open;
  core::BufferPool pieces_{kPieceBytes, kMaxArrivedPieces};
  core::Buffer reading_;         // empty: no read is outstanding
  std::deque<Arrived> arrived_;  // bounded by pieces_
  bool writing_ = false;         // of the first of arrived_
  std::uint64_t consumed_bytes_ = 0;
  core::StallClock stall_clock_;
  core::SpanClock consuming_;

  boost::asio::steady_timer tick_;
  boost::asio::steady_timer drain_pause_;
  std::unique_ptr<transport::Channel> channel_;  // its threads end before the buffers they fill
  std::unique_ptr<LocalStream> local_;           // last but one: its threads end before what they write from
  core::Lifetime lifetime_;
};

}  // namespace udtcat::plain
