// SPDX-License-Identifier: Apache-2.0
/// One half of a bridged descriptor, read or written without waiting where that can be had.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <system_error>

#include "lib/bridge/descriptor.hpp"

namespace udtcat::bridge {

/// The outcome of one system call.
struct IoResult {
  enum class State { moved, would_block, failed };
  State state = State::moved;
  std::size_t bytes = 0;    ///< of State::moved; 0 from a read is the end
  std::error_code error{};  ///< of State::failed
};

/// Threads: unsynchronised.
class HalfDescriptor {
 public:
  HalfDescriptor(int number, Half half);

  [[nodiscard]] int number() const { return own_.is_open() ? own_.number() : given_.number(); }
  [[nodiscard]] DescriptorKind kind() const { return kind_; }
  /// False: read_some() and write_some() may wait unless poll() has just said that the descriptor is ready.
  [[nodiscard]] bool never_waits() const { return own_.is_open() || kind_ == DescriptorKind::socket; }

  [[nodiscard]] IoResult read_some(std::span<std::byte> into) const;
  /// Writes some of `from`, which may be fewer bytes than there are.
  [[nodiscard]] IoResult write_some(std::span<const std::byte> from) const;

  /// As read_some() and write_some(), without waiting.  returns   none: this descriptor cannot do that
  [[nodiscard]] std::optional<IoResult> read_now(std::span<std::byte> into) const;
  [[nodiscard]] std::optional<IoResult> write_now(std::span<const std::byte> from) const;

  /// Tells a socket's other side that no more will be written; the others learn it from close().
  [[nodiscard]] std::error_code end_writing() const;
  /// While it is on, any close of a TCP socket is a reset, that of a killed process too, which the peer does not take
  /// for the end.
  void close_as_a_failure(bool on) const;
  /// Lets go of the descriptor given and of our own description of it.  errors: those of the one given
  std::error_code close();

 private:
  Descriptor given_;
  const DescriptorKind kind_;
  Descriptor own_;  // a non-blocking description of the same thing, where there is one
};

}  // namespace udtcat::bridge
