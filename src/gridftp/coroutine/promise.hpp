/// A value that somebody waits for.
#pragma once

#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "gridftp/coroutine/signal.hpp"
#include "gridftp/coroutine/task.hpp"

namespace udtcat::gridftp {

/// Set once; whoever waits, before or after that, gets a copy.
/// Threads: confined to the io_context thread.
template <typename T>
class Promise {
 public:
  explicit Promise(boost::asio::io_context& io) : set_(io) {}

  /// The first call counts.
  void set(T value) {
    if (value_) return;
    value_ = std::move(value);
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
  Signal set_;
};

}  // namespace udtcat::gridftp
