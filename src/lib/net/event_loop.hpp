// SPDX-License-Identifier: Apache-2.0
/// Event loops of Asio, whose descriptors the system may not watch.
#pragma once

#include <boost/asio/io_context.hpp>

#include <udtcat/result.hpp>

namespace udtcat::net {

enum class LoopSignals { none, taken };  ///< taken: by a boost::asio::signal_set

/// Makes the loop's descriptors, and looks whether the system watches those by which it wakes, knows the time and takes
/// signals: Asio ignores the status of that epoll_ctl(2), and the loop would wait for ever. Success where /proc does
/// not tell.
/// io   has no timer, socket or signal yet
/// errors: Errc::out_of_resources
/// Threads: any.
[[nodiscard]] Status prepare_event_loop(boost::asio::io_context& io, LoopSignals signals);

}  // namespace udtcat::net
