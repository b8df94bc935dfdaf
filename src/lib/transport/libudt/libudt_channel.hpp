// SPDX-License-Identifier: Apache-2.0
/// A UDT connection as a Channel.
#pragma once

#include <chrono>
#include <memory>

#include <boost/asio/io_context.hpp>

#include <udtcat/endpoint.hpp>

#include "lib/transport/channel.hpp"
#include "lib/transport/libudt/port_watch.hpp"
#include "lib/transport/libudt/runtime.hpp"
#include "lib/transport/libudt/udt_socket.hpp"

namespace udtcat::transport::libudt {

/// Makes a channel of a socket that libudt says is connected to `peer`.  errors: Errc::connection_broken
[[nodiscard]] Result<std::unique_ptr<Channel>> make_channel(boost::asio::io_context& io,
                                                            std::shared_ptr<Runtime> runtime, UdtSocket socket,
                                                            const Endpoint& peer,
                                                            std::shared_ptr<PortWatch> port_watch);

}  // namespace udtcat::transport::libudt
