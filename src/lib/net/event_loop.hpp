// SPDX-License-Identifier: Apache-2.0
/// Event loops of Asio, whose descriptors the system may not watch.
#pragma once

#include <boost/asio/io_context.hpp>

#include <udtcat/result.hpp>

namespace udtcat::net {

enum class LoopSignals { ignored, taken };  ///< by a boost::asio::signal_set

/// Makes the loop's descriptors, and looks whether the system watches those by which it wakes, knows the time and takes
/// signals: Asio ignores the status of that epoll_ctl(2), and the loop would not end. Without /proc nobody can know.
/// io   new: it has no timer, socket or signal yet
/// Throws boost::system::system_error, as Asio does, where there are no descriptors for them.
/// errors: Errc::out_of_resources
[[nodiscard]] Status begin_event_loop(boost::asio::io_context& io, LoopSignals signals);

}  // namespace udtcat::net
