/// Which address of ours a peer sees.
#pragma once

#include <boost/asio/io_context.hpp>

#include <udtcat/endpoint.hpp>

namespace udtcat::gridftp {

/// The one that the system would send from, without a port. Nothing is sent. The wildcard where there is no way to the peer.
[[nodiscard]] Endpoint local_address_towards(boost::asio::io_context& io, const Endpoint& peer);

}  // namespace udtcat::gridftp
