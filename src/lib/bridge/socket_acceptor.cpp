// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/socket_acceptor.hpp"

#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "lib/bridge/asio_conversions.hpp"
#include "lib/net/accept_errors.hpp"

namespace udtcat::bridge {

template <typename Protocol>
SocketAcceptor<Protocol>::SocketAcceptor(Bound bound, SocketHandler on_socket, ShortageHandler on_shortage)
    : acceptor_(std::move(bound.listening)),
      local_(bound.local),
      on_socket_(std::move(on_socket)),
      on_shortage_(std::move(on_shortage)),
      timer_(acceptor_.get_executor()) {
  net::report_aborted_clients(acceptor_);
  accept();
}

template <typename Protocol>
void SocketAcceptor<Protocol>::resume() {
  paused_ = false;
  accept();
}

template <typename Protocol>
void SocketAcceptor<Protocol>::accept() {
  if (paused_ || std::exchange(waits_, true)) return;
  acceptor_.async_accept(lifetime_.guard(
      [this](const boost::system::error_code& error, Socket socket) { on_accepted(error, std::move(socket)); }));
}

template <typename Protocol>
void SocketAcceptor<Protocol>::on_accepted(const boost::system::error_code& error, Socket socket) {
  waits_ = false;
  if (!error || net::is_of_one_client(error)) {
    accept();  // first, since on_socket_ may destroy this
    if (!error) on_socket_(std::move(socket));
    return;
  }
  // EMFILE, ENFILE, ENOBUFS, ENOMEM, or an unknown error, which the next call would have, too.
  back_off();
  on_shortage_(local_, from_asio(error));
}

template <typename Protocol>
void SocketAcceptor<Protocol>::back_off() {
  waits_ = true;
  timer_.expires_after(kAcceptPause);
  timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    waits_ = false;
    if (!cancelled) accept();
  }));
}

template class SocketAcceptor<boost::asio::ip::tcp>;
template class SocketAcceptor<boost::asio::local::stream_protocol>;

}  // namespace udtcat::bridge
