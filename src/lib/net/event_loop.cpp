// SPDX-License-Identifier: Apache-2.0
#include "lib/net/event_loop.hpp"

#include <chrono>

#include <boost/asio/steady_timer.hpp>

namespace udtcat::net {

Status check_timers(boost::asio::io_context& io) {
  bool has_ended = false;
  boost::asio::steady_timer due(io, std::chrono::steady_clock::time_point::min());
  due.async_wait([&](const boost::system::error_code&) { has_ended = true; });
  io.poll();
  if (has_ended) return {};
  due.cancel();
  io.poll();
  return fail(Errc::out_of_resources, "make an event loop",
              "the system does not watch its timers (memory, or fs.epoll.max_user_watches)");
}

}  // namespace udtcat::net
