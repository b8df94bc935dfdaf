// SPDX-License-Identifier: Apache-2.0
/// dial() and listen() by a meeting place.
#pragma once

#include <memory>

#include <boost/asio/io_context.hpp>

#include <udtcat/peering.hpp>

namespace udtcat::meeting {

/// request.via is there. errors: also Errc::bad_argument: without a key, or one that names no listener
[[nodiscard]] std::unique_ptr<Dialer> dial_via(boost::asio::io_context& io, DialRequest request,
                                               Dialer::Handler handler);
/// Likewise. The listener waits at its addresses as well.
[[nodiscard]] Result<std::unique_ptr<Listener>> listen_via(boost::asio::io_context& io, ListenRequest request,
                                                           Listener::PeerHandler on_peer,
                                                           Listener::RefusalHandler on_refused);

}  // namespace udtcat::meeting
