// SPDX-License-Identifier: Apache-2.0
/// The source half of a descriptor. What never waits (pipe, socket, terminal) goes straight to the caller's block, and
/// a thread reads only the piece that had to be waited for. Of a file, the thread reads ahead.
///
///   descriptor ──read_some()────────────────────────────────────────────────────────────────► the caller's block
///              └─the thread's read()──► ByteRing (kRingBytes; full: the thread waits) ──read_some()──┘
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <system_error>
#include <thread>

#include <boost/asio/io_context.hpp>

#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>
#include <udtcat/units.hpp>

#include "lib/bridge/byte_ring.hpp"
#include "lib/bridge/half_descriptor.hpp"
#include "lib/bridge/pending_call.hpp"
#include "lib/bridge/wake_event.hpp"
#include "lib/core/mutex.hpp"

namespace udtcat::bridge {

/// Threads: confined to the io_context thread; run() and what it calls are on a thread of their own.
class FdReader {
 public:
  static constexpr std::size_t kReadBytes = 256 * kKiB;      // guess: a default block; bench/loopback
  static constexpr std::size_t kRingBytes = 4 * kReadBytes;  // guess: one being filled, one taken, two for a hiccup

  /// Owns `number` from now on, also when it fails.  errors: Errc::out_of_resources
  [[nodiscard]] static Result<std::unique_ptr<FdReader>> start(boost::asio::io_context& io, int number);
  ~FdReader();

  [[nodiscard]] LocalStream::ReadResult read_some(std::span<std::byte> into);
  void async_wait_readable(LocalStream::WaitHandler handler);

  /// Ends the thread, closes the descriptor and drops the waiting handler. Waits only for a read that the system has
  /// begun: a file on a disk that does not answer is the one thing that can hold it up.
  void stop();

 private:
  enum class State { reading, ended, failed };  // reading ─► ended | failed; both stay
  /// Which thread may read from the descriptor.
  ///   io_thread ◄─► thread_once; io_thread ─► thread, which stays
  enum class Owner { io_thread, thread_once, thread };

  FdReader(boost::asio::io_context& io, int number, WakeEvent stop);

  void run();
  [[nodiscard]] LocalStream::ReadResult take_from_ring(std::span<std::byte> into);
  [[nodiscard]] LocalStream::ReadResult read_now(std::span<std::byte> into);
  [[nodiscard]] std::span<std::byte> wait_until_owner();
  [[nodiscard]] std::optional<IoResult> read_next(std::span<std::byte> into);
  void deliver(const IoResult& result);
  void note_end(const IoResult& last) UDTCAT_REQUIRES(mutex_);

  // constant after construction
  const WakeEvent stop_;
  // whose turn it is, and the io_context thread's once the thread has ended
  HalfDescriptor descriptor_;
  // completes from the thread
  PendingCall<> readable_;

  core::Mutex mutex_;
  core::Condition changed_;                  // space in the ring, owner_, or stopping_
  ByteRing ring_ UDTCAT_GUARDED_BY(mutex_);  // but for the bytes it lends
  State state_ UDTCAT_GUARDED_BY(mutex_) = State::reading;
  Owner owner_ UDTCAT_GUARDED_BY(mutex_) = Owner::io_thread;
  std::error_code error_ UDTCAT_GUARDED_BY(mutex_);
  bool reader_waits_ UDTCAT_GUARDED_BY(mutex_) = false;
  bool stopping_ UDTCAT_GUARDED_BY(mutex_) = false;

  std::thread thread_;
};

}  // namespace udtcat::bridge
