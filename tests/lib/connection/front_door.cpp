// SPDX-License-Identifier: Apache-2.0
// dial() and listen() are defined above this module, which is tested without a meeting place.
#include "lib/connection/direct.hpp"

namespace udtcat {

std::unique_ptr<Dialer> dial(boost::asio::io_context& io, DialRequest request, Dialer::Handler handler) {
  return connection::dial_directly(io, std::move(request), std::move(handler));
}

Result<std::unique_ptr<Listener>> listen(boost::asio::io_context& io, ListenRequest request,
                                         Listener::PeerHandler on_peer, Listener::RefusalHandler on_refused) {
  return connection::listen_directly(io, std::move(request), std::move(on_peer), std::move(on_refused));
}

}  // namespace udtcat
