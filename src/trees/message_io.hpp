// SPDX-License-Identifier: Apache-2.0
/// Messages over a wire, for threads that wait for them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <udtcat/result.hpp>

#include "lib/core/mutex.hpp"
#include "trees/message.hpp"
#include "trees/wire.hpp"

namespace udtcat::trees {

/// Gathers small messages, so that many go at once.
/// Threads: internally synchronised.
class MessageWriter {
 public:
  explicit MessageWriter(Wire& wire) : wire_(wire) {}

  /// Writes what has been gathered once it is much; else it waits for flush().  errors: those of Wire::write()
  [[nodiscard]] Status put(const Message& message);
  /// leaf   the memory of the data's extents; of a large one without holes it is taken, and other memory left there
  [[nodiscard]] Status put_leaf(const Data& data, std::vector<std::byte>& leaf);
  /// returns  the bytes of its body
  [[nodiscard]] Result<std::size_t> put_entry(const Entry& entry);
  [[nodiscard]] Status flush();
  /// Whether the wire is: then it is no use to say more.
  [[nodiscard]] bool is_cut() const { return wire_.is_cut(); }

 private:
  [[nodiscard]] Status write_if_much() UDTCAT_REQUIRES(mutex_);
  [[nodiscard]] Status write_out() UDTCAT_REQUIRES(mutex_);

  Wire& wire_;
  core::Mutex mutex_;
  std::vector<std::byte> gathered_ UDTCAT_GUARDED_BY(mutex_);
};

/// Tells the other end of an error that is ours, as well as that goes.
void tell_failure(const Error& error, MessageWriter& writer);

/// A message stays where the wire has it until the next is asked for.
/// Threads: unsynchronised.
class MessageReader {
 public:
  explicit MessageReader(Wire& wire) : wire_(wire) {}

  /// Waits for a message, which is valid until the next call; none: the end, behind a whole one.
  /// errors: those of Wire::await(); Errc::protocol_violated
  [[nodiscard]] Result<std::optional<Message>> next();
  /// Hears the other end to its end, so that it hears ours.
  void drain();
  /// Of the message that next() gave.
  [[nodiscard]] std::size_t body_bytes() const { return body_bytes_; }

 private:
  Wire& wire_;
  std::vector<std::byte> scratch_;  // of a message that the wire has in two pieces
  std::size_t message_bytes_ = 0;   // of the message that next() gave, which the wire still has
  std::size_t body_bytes_ = 0;
};

}  // namespace udtcat::trees
