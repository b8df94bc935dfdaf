// SPDX-License-Identifier: Apache-2.0
/// One direction between two local streams, with no session between them.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <system_error>
#include <vector>

#include <udtcat/local_stream.hpp>
#include <udtcat/units.hpp>

#include "lib/core/lifetime.hpp"

namespace udtcat::bridge {

/// Moves bytes from `from`'s source into `to`'s sink, without a session between them, until the source has ended and
/// the sink's consumer has taken all.
/// Threads: confined to the io_context thread.
class Relay {
 public:
  static constexpr std::size_t kBufferBytes = 256 * kKiB;  // guess: as much as a pipe may hold on many systems

  struct Outcome {
    std::error_code read_error{};
    std::error_code write_error{};
  };
  using DoneHandler = std::function<void(const Outcome&)>;

  /// Both streams must outlive this. `done` is called once, never from inside the constructor, not after destruction;
  /// it may destroy this.
  Relay(LocalStream& from, LocalStream& to, DoneHandler done);

 private:
  void wait();
  void read();
  void write(std::span<const std::byte> rest);
  void finish();

  LocalStream& from_;
  LocalStream& to_;
  DoneHandler done_;
  std::vector<std::byte> buffer_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::bridge
