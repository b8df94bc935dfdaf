// SPDX-License-Identifier: Apache-2.0
/// The producer of a process' stdin: random data through a pipe, as far as the pipe takes it, and an end when told.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <span>
#include <thread>

#include "support/descriptor.hpp"
#include "support/digest.hpp"

namespace udtcat::test {

/// Threads: internally synchronised; writes on a thread of its own, which ends with the object.
class Producer {
 public:
  static constexpr std::uint64_t kEndless = UINT64_MAX;
  enum class Afterwards { end, keep_open };

  Producer(std::uint64_t seed, std::uint64_t bytes, Afterwards afterwards);
  ~Producer();

  /// The reading end, for the process. Once.
  [[nodiscard]] Descriptor take_stdin() { return std::move(pipe_.reading); }
  /// Closes the pipe, once all the data has been taken.
  void end();
  /// The data end with what it is writing now; then as end().
  void finish();
  [[nodiscard]] std::uint64_t bytes_taken() const { return taken_.load(); }
  /// The digest of all the data, once it has been taken; unlike any other if it is not.
  [[nodiscard]] Digest digest() const;

 private:
  void write_all(std::uint64_t seed, std::uint64_t bytes);
  /// False when the process or the object is going away.
  [[nodiscard]] bool write_part(std::span<const std::byte> part);
  /// False when the object is going away.
  [[nodiscard]] bool wait_until_writable() const;
  void wait_for_end() const;

  Pipe pipe_;
  Descriptor stop_ = open_event();
  Descriptor end_ = open_event();
  std::atomic<bool> finishes_ = false;
  std::atomic<std::uint64_t> taken_ = 0;
  std::promise<Digest> all_;
  std::shared_future<Digest> all_taken_ = all_.get_future().share();
  std::thread thread_;
};

}  // namespace udtcat::test
