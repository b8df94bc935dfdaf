// SPDX-License-Identifier: Apache-2.0
/// One data connection between the host program's threads and ours.
///
///   their write ─► ring ─► a block                     source_*()
///   their read ◄─ the block that arrived, in place     sink_*()
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>
#include <udtcat/units.hpp>

#include "lib/bridge/byte_ring.hpp"
#include "lib/bridge/wake_event.hpp"
#include "lib/core/mutex.hpp"

namespace udtcat::gridftp::xio {

/// Bytes written and not yet taken for the wire. Full: a write goes on when half of it, or all that the write lacks, is
/// free.
inline constexpr std::size_t kRingBytes = 2 * kMiB;  // guess: a MODE E block of globus-url-copy, twice
/// How long a close waits for a peer that is there and takes nothing.
inline constexpr auto kDeliveryWait = std::chrono::seconds(60);  // guess: an outage of half a minute and then some

/// The state of an operation. While it is not done, its event is raised when the state may have changed.
struct OperationState {
  bool done = false;
  std::size_t bytes = 0;
  bool ended = false;                         ///< read: the peer's end, after `bytes`
  std::optional<Error> error = std::nullopt;  ///< after `bytes`
};

/// Its state has four parts; each is changed by one side only:
///
///   stream     opening ── on_open() ──► open ── on_over() ──► over        opening ── on_over() ──► over
///   user       here ── start_close() ──► closing ── abandon() ──► gone    here ── abandon() ──► gone
///   outgoing   nothing ── bytes are written ──► unconfirmed ── the peer's receipt ──► receipted
///   incoming   flowing ── the peer's end ──► ended    flowing ── bytes that a user who left has not read ──► dropped
///
/// One operation of a kind at a time: an open or a read, and a write or a close.
/// Threads: internally synchronised. The user's side may call from any thread and never waits. Functions that begin
/// with source_ and sink_, and those of the session's side, are confined to the io_context thread. At most one block is
/// copied under the mutex.
class XioLink final : public std::enable_shared_from_this<XioLink> {
 public:
  using AbortHandler = std::function<void(const Error&)>;

  /// errors: Errc::out_of_resources
  [[nodiscard]] static Result<std::shared_ptr<XioLink>> make(std::shared_ptr<boost::asio::io_context> io);

  // The user's side.
  [[nodiscard]] const bridge::WakeEvent& read_event() const { return read_event_; }    ///< of open and read
  [[nodiscard]] const bridge::WakeEvent& write_event() const { return write_event_; }  ///< of write and close
  [[nodiscard]] OperationState open_progress();
  /// `into` stays valid until the read is done or stopped.
  /// at_least   done with so many bytes; 0: with what is there. No room and 0: done when there is something to read
  [[nodiscard]] OperationState start_read(std::vector<std::span<std::byte>> into, std::size_t at_least);
  [[nodiscard]] OperationState read_progress();
  /// Withdraws the read; gives the bytes it has got.
  std::size_t stop_read();
  [[nodiscard]] OperationState start_write(std::vector<std::span<const std::byte>> from);
  [[nodiscard]] OperationState write_progress();
  std::size_t stop_write();
  /// Done when the peer's consumer has all that was written, and the end; at once if nothing was. Bytes that still
  /// arrive are dropped, and the peer is told so.
  [[nodiscard]] OperationState start_close();
  [[nodiscard]] OperationState close_progress();
  /// The user is gone: what is not done is not wanted any more.
  void abandon();

  // The session's side.
  /// The stream stands; `abort` ends it with an error.
  void on_open(Endpoint peer, AbortHandler abort);
  /// The stream is over, or was never had. Nothing after that changes anything.
  void on_over(const std::optional<Error>& error);
  [[nodiscard]] bool left();
  /// 0.0.0.0:0 before it is open.
  [[nodiscard]] Endpoint peer();

  // The stream's side: as LocalStream says.
  [[nodiscard]] LocalStream::ReadResult source_read(std::span<std::byte> into);
  void source_wait(LocalStream::WaitHandler handler);
  void source_receipted();
  void sink_write(std::span<const std::byte> from, LocalStream::WriteHandler handler);
  void sink_finish(LocalStream::FinishHandler handler);
  void detach();

 private:
  struct Reading {
    std::vector<std::span<std::byte>> into;  // what is left to fill
    std::size_t next = 0;
    std::size_t bytes = 0;
    std::size_t at_least = 0;
  };
  struct Writing {
    std::vector<std::span<const std::byte>> from;  // what is left to take
    std::size_t next = 0;
    std::size_t bytes = 0;
    std::size_t left = 0;
  };

  XioLink(std::shared_ptr<boost::asio::io_context> io, bridge::WakeEvent read_event, bridge::WakeEvent write_event);

  [[nodiscard]] OperationState read_on() UDTCAT_REQUIRES(mutex_);
  [[nodiscard]] OperationState write_on();
  [[nodiscard]] bool satisfied(const Reading& reading) const UDTCAT_REQUIRES(mutex_);
  void fill_reading() UDTCAT_REQUIRES(mutex_);
  void wake_reader() UDTCAT_REQUIRES(mutex_);
  void wake_writer() UDTCAT_REQUIRES(mutex_);
  void post_serve() UDTCAT_REQUIRES(mutex_);
  void serve();
  void watch_close();
  [[nodiscard]] bool left_locked() const UDTCAT_REQUIRES(mutex_) { return user_ != User::here; }
  void drop_offered() UDTCAT_REQUIRES(mutex_);

  const std::shared_ptr<boost::asio::io_context> io_;
  const bridge::WakeEvent read_event_;
  const bridge::WakeEvent write_event_;

  core::Mutex mutex_;
  enum class Stream { opening, open, over } stream_ UDTCAT_GUARDED_BY(mutex_) = Stream::opening;
  enum class User { here, closing, gone } user_ UDTCAT_GUARDED_BY(mutex_) = User::here;
  enum class Outgoing { nothing, unconfirmed, receipted } outgoing_ UDTCAT_GUARDED_BY(mutex_) = Outgoing::nothing;
  enum class Incoming { flowing, ended, dropped } incoming_ UDTCAT_GUARDED_BY(mutex_) = Incoming::flowing;
  bool serve_posted_ UDTCAT_GUARDED_BY(mutex_) = false;
  bool reader_waits_ UDTCAT_GUARDED_BY(mutex_) = false;  // for read_event_
  bool writer_waits_ UDTCAT_GUARDED_BY(mutex_) = false;  // for write_event_
  std::optional<Error> error_ UDTCAT_GUARDED_BY(mutex_);
  Endpoint peer_ UDTCAT_GUARDED_BY(mutex_);

  bridge::ByteRing ring_ UDTCAT_GUARDED_BY(mutex_){kRingBytes};  // its bytes: see ByteRing
  std::optional<Writing> writing_ UDTCAT_GUARDED_BY(mutex_);

  std::optional<Reading> reading_ UDTCAT_GUARDED_BY(mutex_);
  std::span<const std::byte> offered_ UDTCAT_GUARDED_BY(mutex_);  // of the block that arrived, what is not taken yet
  std::size_t offered_bytes_ UDTCAT_GUARDED_BY(mutex_) = 0;       // all of it

  // Confined to the io_context thread.
  LocalStream::WaitHandler source_waiter_;
  LocalStream::WriteHandler sink_writer_;
  LocalStream::FinishHandler sink_finisher_;
  AbortHandler abort_;
  std::optional<boost::asio::steady_timer> close_timer_;  // none once over
};

[[nodiscard]] std::unique_ptr<LocalStream> make_link_stream(std::shared_ptr<XioLink> link);

}  // namespace udtcat::gridftp::xio
