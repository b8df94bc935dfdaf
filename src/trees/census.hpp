// SPDX-License-Identifier: Apache-2.0
/// Counts a source while it is being sent, for progress.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "trees/message.hpp"
#include "trees/source.hpp"

namespace udtcat::trees {

/// Threads: unsynchronised; it counts on one of its own.
class Census {
 public:
  /// on_counted   is called on that thread, once, unless this is destroyed before, or there is no thread to be had
  Census(Source source, std::function<void(const Totals&)> on_counted);
  Census(const Census&) = delete;
  Census& operator=(const Census&) = delete;
  ~Census();

 private:
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace udtcat::trees
