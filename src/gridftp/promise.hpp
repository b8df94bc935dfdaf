/// A value that somebody waits for.
#pragma once

#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "gridftp/task.hpp"

namespace udtcat::gridftp {

/// Set once; whoever waits, before or after that, gets a copy.
/// Threads: confined to the io_context thread.
template <typename T>
class Promise {
 public:
  explicit Promise(boost::asio::io_context& io) : timer_(io) {
    timer_.expires_at(boost::asio::steady_timer::time_point::max());
  }

  /// The first call counts.
  void set(T value) {
    if (value_) return;
    value_ = std::move(value);
    timer_.cancel();
  }
  [[nodiscard]] bool is_set() const { return value_.has_value(); }
  /// This must outlive the wait.
  [[nodiscard]] Task<T> get() {
    boost::system::error_code cancelled;
    if (!value_) co_await timer_.async_wait(into(cancelled));
    co_return *value_;
  }

 private:
  std::optional<T> value_;
  boost::asio::steady_timer timer_;  // never expires; cancelled when there is a value
};

}  // namespace udtcat::gridftp
