/// The thread that writes a connection, and waits for its end.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include <udtcat/result.hpp>

#include "lib/core/shared_bytes.hpp"
#include "lib/transport/libudt/completion.hpp"
#include "lib/transport/libudt/connection.hpp"
#include "lib/transport/libudt/runtime.hpp"

namespace udtcat::transport::libudt {

/// Writes in the order of the calls; the caller bounds how many wait. The thread starts with the first.
///
///   open ──close()──► draining ──all acknowledged, broken or time is up──► closed
///
/// Draining sends what waits here and then lets libudt send what it holds.
///
/// Threads: confined to the channel's, and its own inside.
class SendLoop {
 public:
  SendLoop(std::shared_ptr<Connection> connection, std::shared_ptr<Runtime> runtime);
  /// What is left of the drain goes on without us.
  ~SendLoop();

  void write(core::SharedBytes from, Completion done);
  /// `done` once all that was written before is acknowledged; later writes wait for that too. Starts the thread.
  void wait_drained(Completion done);
  /// Closes the connection, after at most `drain`. Returns at once. The first call counts.
  void close(std::chrono::milliseconds drain);

 private:
  class Queue;
  void start();

  const std::shared_ptr<Connection> connection_;  // synchronises itself
  const std::shared_ptr<Runtime> runtime_;        // synchronises itself
  const std::shared_ptr<Queue> queue_;            // synchronises itself; shared with the thread, which may outlive us
  std::thread thread_;                            // the channel's
};

}  // namespace udtcat::transport::libudt
