// SPDX-License-Identifier: Apache-2.0
/// The progress of a push, for a person, as the far side reports it: bytes that we have written may be in ssh's
/// buffers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tool/status/progress.hpp"

namespace udtcat::ssh {

/// Threads: unsynchronised. Times are since the beginning of the push.
class PushProgress {
 public:
  /// all_bytes   of the program, unpacked
  PushProgress(const std::string& host, std::uint64_t all_bytes);

  void hear(std::uint64_t bytes, std::chrono::nanoseconds at);
  /// "udtcat: sending udtcat to HOST  [ 43 %] 1.2 MB of 4.1 MB  412 kB/s  0:04 left", in at most `columns`.
  [[nodiscard]] std::string line(std::chrono::nanoseconds now, std::size_t columns);

 private:
  const std::string beginning_;
  const std::uint64_t all_bytes_;
  std::uint64_t have_bytes_ = 0;
  std::chrono::nanoseconds heard_at_{0};
  tool::Progress progress_;
};

}  // namespace udtcat::ssh
