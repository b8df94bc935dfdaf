// SPDX-License-Identifier: Apache-2.0
/// Event loops of Asio, whose descriptors the system may not watch.
#pragma once

#include <boost/asio/io_context.hpp>

#include <udtcat/result.hpp>

namespace udtcat::net {

enum class LoopSignals { none, taken };  ///< taken: by a boost::asio::signal_set

/// Creates Asio's descriptors and checks in /proc that epoll watches its eventfd, timerfd and signal pipe: Asio ignores
/// a failed epoll_ctl(2) and would never wake. Success where /proc does not tell.
/// io   has no timer, socket or signal yet
/// errors: Errc::out_of_resources
/// Threads: any.
[[nodiscard]] Status prepare_event_loop(boost::asio::io_context& io, LoopSignals signals);

}  // namespace udtcat::net
