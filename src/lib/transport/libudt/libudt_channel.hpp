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

/// A socket that libudt says is connected to `peer`.
struct Established {
  UdtSocket socket;
  Endpoint peer;
  std::shared_ptr<PortWatch> port_watch;
  std::chrono::milliseconds idle_timeout;
};

/// errors: Errc::connection_broken
[[nodiscard]] Result<std::unique_ptr<Channel>> make_channel(boost::asio::io_context& io,
                                                            std::shared_ptr<Runtime> runtime, Established established);

}  // namespace udtcat::transport::libudt
