/// The two gateways between which GridFTP's connections become streams of a session, in the place of a TCP forward and
/// a TCP service (ADR-0018).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/bridges.hpp>

namespace udtcat::gridftp {

/// Beside the server: as make_tcp_service(), for the streams of near gateways. Of `targets` those of IPv4 count.
/// errors: Errc::cannot_resolve where there are none
[[nodiscard]] Result<std::unique_ptr<TcpService>> make_far_gateway(boost::asio::io_context& io,
                                                                   const std::vector<Endpoint>& targets,
                                                                   std::string server_name,
                                                                   TcpService::TroubleHandler on_trouble);

/// Beside the clients: as make_tcp_forward(), with a far gateway at the other end. Of `locals` those of IPv4 count.
/// errors: Errc::bad_argument where there are none, Errc::cannot_bind
[[nodiscard]] Result<std::unique_ptr<TcpForward>> make_near_gateway(boost::asio::io_context& io, Connection& connection,
                                                                    const std::vector<Endpoint>& locals,
                                                                    TcpForward::TroubleHandler on_trouble);

}  // namespace udtcat::gridftp
