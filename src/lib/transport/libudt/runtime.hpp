// SPDX-License-Identifier: Apache-2.0
/// libudt's process-wide state: its garbage collector runs as long as anybody here needs it.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <udtcat/result.hpp>

#include "lib/core/mutex.hpp"

namespace udtcat::transport::libudt {

/// Shared by engines, acceptors and channels; the last of them to go stops libudt, which takes about 0.1 s.
/// Threads: internally synchronised.
class Runtime {
 public:
  /// errors: Errc::out_of_resources
  [[nodiscard]] static Result<std::shared_ptr<Runtime>> acquire();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

  /// Takes a thread that ends by itself, in bounded time, and holds no reference to this runtime. It is joined at the
  /// latest before libudt stops.
  void adopt(std::thread thread, std::shared_ptr<const std::atomic<bool>> finished);
  /// A socket was left to libudt that it could not take down without touching freed memory; so it is never taken down.
  void leave_running() { leave_running_ = true; }

 private:
  Runtime() = default;

  struct Adopted {
    std::thread thread;
    std::shared_ptr<const std::atomic<bool>> finished;
  };

  std::atomic<bool> leave_running_{false};
  core::Mutex mutex_;
  std::vector<Adopted> adopted_ UDTCAT_GUARDED_BY(mutex_);
};

}  // namespace udtcat::transport::libudt
