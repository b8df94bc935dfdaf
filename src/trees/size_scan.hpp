// SPDX-License-Identifier: Apache-2.0
/// Counts the names and bytes of a source while it is being sent, for progress.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "trees/message.hpp"
#include "trees/source.hpp"

namespace udtcat::trees {

/// Threads: unsynchronised; it counts on one of its own.
class SizeScan {
 public:
  /// on_counted   is called on that thread, once, unless this is destroyed before, or there is no thread to be had
  SizeScan(Source source, std::function<void(const Totals&)> on_counted);
  SizeScan(const SizeScan&) = delete;
  SizeScan& operator=(const SizeScan&) = delete;
  ~SizeScan();

 private:
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace udtcat::trees
