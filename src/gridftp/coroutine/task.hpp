// SPDX-License-Identifier: Apache-2.0
/// Tasks, GridFTP's coroutines, and what they wait for (ADR-0016).
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <udtcat/result.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp {

/// Runs on the io_context thread. Errors are values; nothing is thrown through it but what ends the program.
template <typename T>
using Task = boost::asio::awaitable<T>;

/// The handler of a task that runs by itself: std::bad_alloc comes out of io_context::run(), as it does of any handler.
/// Were it dropped, whoever waits for the task would wait for ever.
inline void rethrow(const std::exception_ptr& thrown) {
  if (thrown) std::rethrow_exception(thrown);
}

/// For an asynchronous operation of Asio's: its error goes to `error` instead of being thrown.
[[nodiscard]] inline auto into(boost::system::error_code& error) {
  return boost::asio::redirect_error(boost::asio::use_awaitable, error);
}

/// Returns after `duration`.
[[nodiscard]] inline Task<void> pause(boost::asio::io_context& io, std::chrono::milliseconds duration) {
  boost::asio::steady_timer timer(io, duration);
  boost::system::error_code ignored;
  co_await timer.async_wait(into(ignored));
}

/// A condition variable for coroutines: a task that is woken checks its condition again.
/// Threads: confined to the io_context thread.
class AsyncCondition {
 public:
  explicit AsyncCondition(boost::asio::io_context& io) : timer_(io) {
    timer_.expires_at(boost::asio::steady_timer::time_point::max());
  }
  [[nodiscard]] Task<void> wait() {
    boost::system::error_code cancelled;
    co_await timer_.async_wait(into(cancelled));
  }
  void notify() { timer_.cancel(); }

 private:
  boost::asio::steady_timer timer_;  // never expires; cancelled by notify()
};

/// A value that is set once; each task that waits for it, before or after that, gets a copy.
/// Threads: confined to the io_context thread.
template <typename T>
class Promise {
 public:
  explicit Promise(boost::asio::io_context& io) : set_(io) {}

  /// The first call counts, of set() and fail().
  void set(T value) {
    if (value_) return;
    value_ = std::move(value);
    set_.notify();
  }
  void fail(Error why) {
    if (value_) return;
    value_.emplace(tl::unexpect, std::move(why));
    set_.notify();
  }
  [[nodiscard]] bool is_set() const { return value_.has_value(); }
  /// This must outlive the wait.
  [[nodiscard]] Task<T> get() {
    while (!value_) co_await set_.wait();
    co_return *value_;
  }

 private:
  std::optional<T> value_;
  AsyncCondition set_;
};

/// Runs `task` beside its caller, until it ends.
/// returns   its result; or `broken_off`, where it waits on a connection that is aborted, and so is destroyed
template <typename T>
[[nodiscard]] std::shared_ptr<Promise<T>> start(boost::asio::io_context& io, Task<T> task, Error broken_off) {
  const auto result = std::make_shared<Promise<T>>(io);
  boost::asio::co_spawn(
      io,
      [result, task = std::move(task), broken_off = std::move(broken_off)]() mutable -> Task<void> {
        const std::shared_ptr<Promise<T>> at_the_end(
            result.get(), [result, broken_off](Promise<T>* promise) { promise->fail(broken_off); });
        result->set(co_await std::move(task));
      },
      rethrow);
  return result;
}

/// A copyable wrapper of a coroutine's handler, for a std::function.
template <typename Handler>
[[nodiscard]] auto shared_handler(Handler handler) {
  return [shared = std::make_shared<Handler>(std::move(handler))](auto... values) { (*shared)(std::move(values)...); };
}

/// Calls a handler when a byte count has not changed between the beginning and the end of a `timeout`.
/// Threads: confined to the io_context thread.
class StallTimer {
 public:
  /// Bytes moved so far; none: the wait is not for the peer.
  using BytesMoved = std::function<std::optional<std::uint64_t>()>;

  /// moved   empty: nothing ever does.  on_silence   is called once, at most
  StallTimer(boost::asio::io_context& io, std::chrono::milliseconds timeout, BytesMoved moved,
             std::function<void()> on_silence)
      : timer_(io), timeout_(timeout), moved_(std::move(moved)), on_silence_(std::move(on_silence)) {
    wait();
  }
  [[nodiscard]] bool is_over() const { return over_; }

 private:
  void wait() {
    timer_.expires_after(timeout_);
    timer_.async_wait(lifetime_.guard([this, before = count()](const boost::system::error_code& cancelled) {
      if (cancelled) return;
      const auto now = count();
      if (!now || now != before) return wait();
      over_ = true;
      on_silence_();
    }));
  }
  [[nodiscard]] std::optional<std::uint64_t> count() const { return moved_ ? moved_() : 0; }

  boost::asio::steady_timer timer_;
  const std::chrono::milliseconds timeout_;
  const BytesMoved moved_;
  const std::function<void()> on_silence_;
  bool over_ = false;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::gridftp
