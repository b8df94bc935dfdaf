// SPDX-License-Identifier: Apache-2.0
/// dial() and listen() at addresses that are known, without a meeting place.
#pragma once

#include <memory>

#include <boost/asio/io_context.hpp>

#include <udtcat/peering.hpp>

#include "lib/connection/dial_attempts.hpp"
#include "lib/transport/engine.hpp"

namespace udtcat::connection {

/// The engine that a request's channels come from.  errors: those of transport::make_engine()
[[nodiscard]] Result<std::shared_ptr<transport::Engine>> make_dialling_engine(boost::asio::io_context& io,
                                                                              const DialRequest& request);

/// engine     of make_dialling_engine(), for several dialers of one request; the connection keeps it. Null: a new one
/// on_proof   asked by each attempt by UDP, so that of several dialers one alone has a session; null: it goes on
[[nodiscard]] std::unique_ptr<Dialer> dial_directly(boost::asio::io_context& io, DialRequest request,
                                                    Dialer::Handler handler,
                                                    std::shared_ptr<transport::Engine> engine = nullptr,
                                                    Attempts::ProofHandler on_proof = nullptr);

[[nodiscard]] Result<std::unique_ptr<Listener>> listen_directly(boost::asio::io_context& io, ListenRequest request,
                                                                Listener::PeerHandler on_peer,
                                                                Listener::RefusalHandler on_refused);

}  // namespace udtcat::connection
