/// Coroutines of one thread wait for something to change.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "gridftp/coroutine/task.hpp"

namespace udtcat::gridftp {

/// A condition without a mutex: who waits looks again when he is woken.
/// Threads: confined to the io_context thread.
class Signal {
 public:
  explicit Signal(boost::asio::io_context& io) : timer_(io) {
    timer_.expires_at(boost::asio::steady_timer::time_point::max());
  }
  /// Until the next notify(). This must outlive the wait.
  [[nodiscard]] Task<void> wait() {
    boost::system::error_code cancelled;
    co_await timer_.async_wait(into(cancelled));
  }
  /// Wakes all who wait now.
  void notify() { timer_.cancel(); }

 private:
  boost::asio::steady_timer timer_;  // never expires; cancelled by notify()
};

}  // namespace udtcat::gridftp
