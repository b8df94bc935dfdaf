// SPDX-License-Identifier: Apache-2.0
/// A TCP neighbour of an end: gives what it has, takes what comes, and knows an end of file from a reset.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "support/descriptor.hpp"

namespace udtcat::fault {

/// Threads: internally synchronised; works on a thread of its own, which ends with the object.
class TcpPeer {
 public:
  enum class End : std::uint8_t { open, clean, broken };

  /// expected  what has to come, borrowed as `given` is
  TcpPeer(test::Descriptor socket, const std::vector<std::byte>& given, const std::vector<std::byte>& expected);
  ~TcpPeer();

  [[nodiscard]] std::uint64_t bytes_taken() const { return taken_.load(); }
  [[nodiscard]] bool wrong() const { return wrong_.load(); }  ///< another byte came than the one that was due
  [[nodiscard]] End end() const { return end_.load(); }
  /// Nothing will be given or taken any more.
  [[nodiscard]] bool done() const { return done_.load(); }

 private:
  void work();
  void give();
  void take();

  const test::Descriptor socket_;
  const std::vector<std::byte>& given_;
  const std::vector<std::byte>& expected_;
  const test::Descriptor stop_ = test::open_event();
  std::size_t gave_ = 0;   // the thread's own
  bool finished_ = false;  // the same: everything was given, and that said
  std::atomic<std::uint64_t> taken_ = 0;
  std::atomic<bool> wrong_ = false;
  std::atomic<End> end_ = End::open;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace udtcat::fault
