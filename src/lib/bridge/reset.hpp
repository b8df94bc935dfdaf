// SPDX-License-Identifier: Apache-2.0
/// The end of a socket that nobody is to take for a good one.
#pragma once

#include <boost/asio/socket_base.hpp>
#include <boost/system/error_code.hpp>

namespace udtcat::bridge {

/// Closes a socket, so that the other side sees a reset. A socket's own destructor would make it an end.
template <typename Socket>
void reset(Socket& socket) {
  boost::system::error_code none;
  socket.set_option(boost::asio::socket_base::linger(true, 0), none);  // fails where it is not connected any more
  socket.close(none);
}

}  // namespace udtcat::bridge
