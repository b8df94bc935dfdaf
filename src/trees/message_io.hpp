// SPDX-License-Identifier: Apache-2.0
/// Messages over a stream, for threads that wait for them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <udtcat/result.hpp>

#include "lib/core/mutex.hpp"
#include "trees/blocking_stream.hpp"
#include "trees/message.hpp"

namespace udtcat::trees {

/// Gathers small messages, so that many go at once.
/// Threads: internally synchronised.
class MessageWriter {
 public:
  explicit MessageWriter(BlockingStream& stream) : stream_(stream) {}

  /// Writes what has been gathered once it is much; else it waits for flush().
  /// errors, of all four: those of BlockingStream::write()
  [[nodiscard]] Status put(const Message& message);
  /// chunk   the memory of the data's extents; of a large one without holes it is taken, and other memory left there
  [[nodiscard]] Status put_data(const Data& data, std::vector<std::byte>& chunk);
  /// returns  the bytes of its body
  [[nodiscard]] Result<std::size_t> put_entry(const Entry& entry);
  [[nodiscard]] Status flush();
  /// Whether the stream is: then nothing more arrives.
  [[nodiscard]] bool is_cut() const { return stream_.is_cut(); }

 private:
  [[nodiscard]] Status write_if_much() UDTCAT_REQUIRES(mutex_);
  [[nodiscard]] Status write_out() UDTCAT_REQUIRES(mutex_);

  BlockingStream& stream_;
  core::Mutex mutex_;
  std::vector<std::byte> gathered_ UDTCAT_GUARDED_BY(mutex_);
};

/// Sends FAILED for an error of this end, if the stream still takes it.
void tell_failure(const Error& error, MessageWriter& writer);

/// A message stays where the stream has it until the next is asked for.
/// Threads: unsynchronised.
class MessageReader {
 public:
  explicit MessageReader(BlockingStream& stream) : stream_(stream) {}

  /// Waits for a message, which is valid until the next call; none: the end, behind a whole one.
  /// errors: those of BlockingStream::await(); Errc::protocol_violated
  [[nodiscard]] Result<std::optional<Message>> next();
  /// Reads and drops all up to the end, so that the other end is not stuck in writing and reads ours.
  void drain();
  /// The size of the message that next() gave.
  [[nodiscard]] std::size_t body_bytes() const { return body_bytes_; }

 private:
  BlockingStream& stream_;
  std::vector<std::byte> scratch_;  // of a message that the stream has in two pieces
  std::size_t message_bytes_ = 0;   // of the message that next() gave, which the stream still has
  std::size_t body_bytes_ = 0;
};

}  // namespace udtcat::trees
