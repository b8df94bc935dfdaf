// SPDX-License-Identifier: Apache-2.0
/// A stream to the other end of a transfer, for threads that block.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>

namespace udtcat::trees {

/// A stream of threads upon a LocalStream, which a connection drives, or a relay to pipes.
///
///   write() ──► chunks (kQueuedBytes and one; full: the thread waits) ──► the stream's source
///   the stream's sink ──► ring (full: its writer waits, and a connection's credit is used up) ──► peek()
///
/// Threads: one that reads, one that writes; cut() is for any; local_stream() is the io_context's.
class BlockingStream {
 public:
  static constexpr std::size_t kRingBytes = 2'621'440;    // measured: ADR-0050: two chunks; 8 MiB fit no core's cache
  static constexpr std::size_t kQueuedBytes = 1'572'864;  // guess: with the chunk that the stream has, kRingBytes
  static constexpr std::chrono::milliseconds kEndPatience{2'000};  // guess: a few round trips, and a busy machine

  /// For an end that has had the other's last word, and waits for its end only.
  static constexpr std::chrono::milliseconds kLastPatience{60'000};  // spec: docs/spec/trees.md §4

  explicit BlockingStream(boost::asio::io_context& io);
  BlockingStream(const BlockingStream&) = delete;
  BlockingStream& operator=(const BlockingStream&) = delete;
  ~BlockingStream();

  /// Once. Where it is aborted or destroyed before its ends the stream is cut.
  [[nodiscard]] std::unique_ptr<LocalStream> local_stream();

  /// Waits until so many bytes are there, at most kRingBytes.
  /// returns  `bytes`, or less where the end comes before.  errors: Errc::connection_broken
  [[nodiscard]] Result<std::size_t> await(std::size_t bytes);
  /// The next bytes, which await() has said are there; valid until consume().
  /// scratch   for those that lie in two pieces
  [[nodiscard]] std::span<const std::byte> peek(std::size_t bytes, std::vector<std::byte>& scratch);
  /// Lets go of bytes that peek() has shown.
  void consume(std::size_t bytes);
  /// Returns when the bytes are on their way.  errors: Errc::connection_broken
  [[nodiscard]] Status write(std::vector<std::byte> bytes);
  /// Memory that was written, of any bytes, to be filled again; empty: none is left.
  [[nodiscard]] std::vector<std::byte> spare();
  /// No more is written.
  void finish();
  /// The stream is cut unless the other end has ended its direction within `patience`: for an end that has failed, and
  /// before its last words, for which there may be no room.
  void cut_unless_ended(std::chrono::milliseconds patience = kEndPatience);
  /// Both directions fail from now on, also for threads that wait in them.
  void cut();
  [[nodiscard]] bool is_cut() const;
  /// Returns when so much time has passed, or once it is cut.  returns  whether it is
  [[nodiscard]] bool wait_cut(std::chrono::milliseconds time);

 private:
  struct Shared;
  class Local;

  boost::asio::io_context& io_;
  const std::shared_ptr<Shared> shared_;
};

}  // namespace udtcat::trees
