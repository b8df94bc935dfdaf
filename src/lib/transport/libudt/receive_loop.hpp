/// The thread that reads a connection.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

#include <udtcat/result.hpp>

#include "lib/transport/libudt/completion.hpp"
#include "lib/transport/libudt/connection.hpp"

namespace udtcat::transport::libudt {

/// libudt writes straight into the caller's buffer, so that a read that was begun cannot be abandoned: it ends within
/// kBlockingCallLimit of stop(), or at once when the connection is closed.
/// Threads: confined to the channel's, and its own inside.
class ReceiveLoop {
 public:
  explicit ReceiveLoop(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
  /// Waits for the read in progress.
  ~ReceiveLoop();

  struct Request {
    std::span<std::byte> into;
    std::size_t least_bytes;
    bool tells_the_end;  ///< gives 0 where the peer closed in order
    ReadCompletion done;
  };
  /// One at a time. The thread starts with the first. Says how much was read.
  void read(Request request);
  /// The read in progress ends with Errc::connection_broken, later ones at once.
  void stop();

 private:
  void run();
  void wait_for_request(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] Result<std::size_t> fill(const Request& request);

  const std::shared_ptr<Connection> connection_;  // synchronises itself
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Request> request_;  // guarded by mutex_
  bool stopping_ = false;           // guarded by mutex_
  std::optional<Error> broken_;     // the loop's own
  std::thread thread_;              // the channel's
};

}  // namespace udtcat::transport::libudt
