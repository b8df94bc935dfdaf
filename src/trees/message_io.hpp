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
  [[nodiscard]] Status flush();

 private:
  [[nodiscard]] Status write_out() UDTCAT_REQUIRES(mutex_);

  Wire& wire_;
  core::Mutex mutex_;
  std::vector<std::byte> gathered_ UDTCAT_GUARDED_BY(mutex_);
};

/// Threads: unsynchronised.
class MessageReader {
 public:
  explicit MessageReader(Wire& wire) : wire_(wire) {}

  /// Waits for a message, which is valid until the next call; none: the end, behind a whole one.
  /// errors: those of Wire::read_some(); Errc::protocol_violated
  [[nodiscard]] Result<std::optional<Message>> next();

 private:
  /// Makes `bytes` of them arrive, from next_ on.  returns  false: the end came first
  [[nodiscard]] Result<bool> await(std::size_t bytes);

  Wire& wire_;
  std::vector<std::byte> arrived_;
  std::size_t next_ = 0;    // of arrived_: where the next message begins
  std::size_t filled_ = 0;  // of arrived_
};

}  // namespace udtcat::trees
