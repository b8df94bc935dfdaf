// SPDX-License-Identifier: Apache-2.0
/// Closing a socket by a reset.
#pragma once

#include <boost/asio/socket_base.hpp>
#include <boost/system/error_code.hpp>

namespace udtcat::bridge {

/// Closes a socket so that the other side sees a reset. Its destructor would close it gracefully.
template <typename Socket>
void reset(Socket& socket) {
  boost::system::error_code none;
  socket.set_option(boost::asio::socket_base::linger(true, 0), none);  // fails where it is not connected any more
  socket.close(none);
}

}  // namespace udtcat::bridge
