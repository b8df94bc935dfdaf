// SPDX-License-Identifier: Apache-2.0
/// Threads for calls that may wait for a disk, so that the thread that moves packets never does.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/asio/async_result.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

#include "gridftp/coroutine/task.hpp"
#include "lib/core/mutex.hpp"

namespace udtcat::gridftp {

/// A few threads for each io_context, made when they are first asked for, gone with it. Calls wait in the order in
/// which they came.
/// Threads: confined to the io_context thread; what is given to it runs elsewhere.
class DiskThreads final : public boost::asio::execution_context::service {
 public:
  static constexpr std::size_t kThreads = 4;  // measured: ADR-0024: 30 listings of 100 000 entries add 0.1 ms to a NOOP
  /// Running and waiting; a caller beyond it waits until one is done.
  static constexpr std::size_t kMaxCalls = 256;  // guess: one for each client that a server takes
  static boost::asio::execution_context::id id;  // spec: Asio: by which an io_context finds its services

  explicit DiskThreads(boost::asio::io_context& io);
  ~DiskThreads() override;
  DiskThreads(const DiskThreads&) = delete;
  DiskThreads& operator=(const DiskThreads&) = delete;

  [[nodiscard]] static DiskThreads& of(boost::asio::io_context& io) {
    return boost::asio::use_service<DiskThreads>(io);
  }
  /// Returns once give() may be called.
  [[nodiscard]] Task<void> room();
  /// call   runs on one of the threads;  done   after it, as a handler of the io_context
  void give(std::function<void()> call, std::function<void()> done);

 private:
  struct Call {
    std::function<void()> call;
    std::function<void()> done;
  };
  void shutdown() noexcept override;
  void work();
  void on_done(const std::function<void()>& done);

  boost::asio::io_context& io_;
  std::size_t calls_ = 0;
  AsyncCondition has_room_;  // there is room
  core::Mutex mutex_;
  core::Condition changed_;
  std::deque<Call> waiting_ UDTCAT_GUARDED_BY(mutex_);
  bool stopping_ UDTCAT_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;  // none where the system refuses: calls then run on the caller's thread
};

/// The result of `call`, run on a thread that may wait for a disk. References in it must outlive the wait, as in any
/// coroutine.
template <typename Call>
[[nodiscard]] Task<std::invoke_result_t<Call>> on_disk(boost::asio::io_context& io, Call call) {
  DiskThreads& threads = DiskThreads::of(io);
  co_await threads.room();
  std::optional<std::invoke_result_t<Call>> given;
  co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>&, void()>(
      [&](auto handler) { threads.give([&] { given.emplace(call()); }, shared_handler(std::move(handler))); },
      boost::asio::use_awaitable);
  co_return std::move(*given);
}

/// As on_disk(), tried again for two seconds while another transfer has the file (Errc::out_of_resources): one whose
/// client has gone may still be storing its last blocks.
/// wanted   false: the caller does not need the file any more, and must not take it from later callers
template <typename Call, typename Wanted>
[[nodiscard]] Task<std::invoke_result_t<Call&>> on_disk_in_turn(boost::asio::io_context& io, Call call, Wanted wanted) {
  constexpr auto kRetryAfter = std::chrono::milliseconds(100);  // guess: a client that begins again notices no more
  constexpr int kRetries = 20;                                  // guess: a disk has stored a few blocks by then
  for (int retries = 0;; ++retries) {
    auto done = co_await on_disk(io, std::ref(call));
    if (done || done.error().code != Errc::out_of_resources || retries == kRetries) co_return done;
    co_await pause(io, kRetryAfter);
    if (!wanted()) co_return done;
  }
}

}  // namespace udtcat::gridftp
