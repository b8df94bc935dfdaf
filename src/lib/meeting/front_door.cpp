// SPDX-License-Identifier: Apache-2.0
/// dial() and listen(): at addresses, or by a meeting place.
#include <utility>

#include <udtcat/peering.hpp>

#include "lib/connection/direct.hpp"
#include "lib/meeting/via.hpp"

namespace udtcat {

std::unique_ptr<Dialer> dial(boost::asio::io_context& io, DialRequest request, Dialer::Handler handler) {
  if (request.via) return meeting::dial_via(io, std::move(request), std::move(handler));
  return connection::dial_directly(io, std::move(request), std::move(handler));
}

Result<std::unique_ptr<Listener>> listen(boost::asio::io_context& io, ListenRequest request,
                                         Listener::PeerHandler on_peer, Listener::RefusalHandler on_refused) {
  if (request.via) return meeting::listen_via(io, std::move(request), std::move(on_peer), std::move(on_refused));
  return connection::listen_directly(io, std::move(request), std::move(on_peer), std::move(on_refused));
}

}  // namespace udtcat
