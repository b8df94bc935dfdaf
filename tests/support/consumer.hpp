// SPDX-License-Identifier: Apache-2.0
/// The consumer of a process' stdout: counts and digests it, from the moment it is told to.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <thread>

#include "support/descriptor.hpp"
#include "support/digest.hpp"

namespace udtcat::test {

/// Threads: internally synchronised; reads on a thread of its own, which ends with the object.
class Consumer {
 public:
  enum class Begin { at_once, when_told };
  explicit Consumer(Begin begin = Begin::at_once);
  ~Consumer();

  /// The writing end, for the process. Once.
  [[nodiscard]] Descriptor take_stdout() { return std::move(pipe_.writing); }
  void begin();
  /// Goes away without reading on: the process' next write fails.
  void quit();
  [[nodiscard]] std::uint64_t bytes_read() const { return read_.load(); }
  /// Whether the end of file came within `limit`.
  [[nodiscard]] bool wait_for_end(std::chrono::milliseconds limit) const;
  /// Of everything read until the end of file; unlike any other if the end does not come.
  [[nodiscard]] Digest digest() const;

 private:
  [[nodiscard]] Digest read_all();

  Pipe pipe_;
  Descriptor begin_ = open_event();
  Descriptor stop_ = open_event();
  std::atomic<std::uint64_t> read_ = 0;
  std::promise<Digest> end_;
  std::shared_future<Digest> ended_ = end_.get_future().share();
  std::thread thread_;
};

}  // namespace udtcat::test
