// SPDX-License-Identifier: Apache-2.0
/// Errors of accept(2) that are about a client, and not about the socket that listens.
#pragma once

#include <boost/asio/error.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/system/error_code.hpp>

namespace udtcat::net {

/// Has Asio report ECONNABORTED and EPROTO: it would wait for the next event, and clients that are in the backlog
/// already give none (edge-triggered, epoll(7)).
/// Acceptor   a boost::asio::basic_socket_acceptor that is open
template <typename Acceptor>
void report_aborted_clients(Acceptor& acceptor) {
  boost::system::error_code none;  // it is an option of Asio's own
  acceptor.set_option(boost::asio::socket_base::enable_connection_aborted(true), none);
}

/// Whether the next client can be accepted at once. The other errors of accept(2) may be the host's: a pause does no
/// harm.
[[nodiscard]] inline bool is_of_one_client(const boost::system::error_code& error) {
  return error == boost::asio::error::connection_aborted || error == boost::asio::error::connection_reset ||
         error == boost::system::errc::protocol_error;
}

}  // namespace udtcat::net
