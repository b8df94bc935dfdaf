// SPDX-License-Identifier: Apache-2.0
/// What Asio does not say of its own event loop.
#pragma once

#include <boost/asio/io_context.hpp>

#include <udtcat/result.hpp>

namespace udtcat::net {

/// Whether the loop's timers end: Asio ignores the status of the epoll_ctl(2) by which it watches for them.
/// io   new, and with a work guard: handlers that are ready are run
/// Throws boost::system::system_error, as Asio does, where there are no descriptors for a loop.
/// errors: Errc::out_of_resources
[[nodiscard]] Status check_timers(boost::asio::io_context& io);

}  // namespace udtcat::net
