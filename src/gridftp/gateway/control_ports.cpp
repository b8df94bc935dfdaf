// SPDX-License-Identifier: Apache-2.0
#include "gridftp/gateway/control_ports.hpp"

#include <algorithm>
#include <utility>

#include "gridftp/dialogue/data_port.hpp"
#include "lib/bridge/asio_conversions.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp {

using boost::asio::ip::tcp;

namespace {

tl::unexpected<Error> no_room() {
  return fail(Errc::bad_argument, "open data ports", "more than " + std::to_string(kMaxDataPorts));
}

}  // namespace

Status ControlPorts::announce(const Endpoint& endpoint, bool first) {
  UDTCAT_CHECK(may_connect(endpoint, peer_));
  if (first) announced_.clear();
  if (announced_.size() == kMaxDataPorts) return no_room();
  announced_.push_back(endpoint);
  return {};
}

bool ControlPorts::has_announced(const Endpoint& endpoint) const {
  return std::ranges::find(announced_, endpoint) != announced_.end();
}

Result<Endpoint> ControlPorts::stand_in(const Endpoint& announced, bool first) {
  if (first) listening_.clear();
  if (listening_.size() == kMaxDataPorts) return no_room();
  auto bound = bridge::bind_tcp(io_, local_.with_port(0), bridge::GracefulClose::receipted);
  if (!bound)
    return core::fail_by_errno(Errc::cannot_bind, "listen for data on tcp " + local_.host_to_string(),
                               bound.error().value());
  listening_.push_back(std::make_unique<bridge::TcpAcceptor>(
      std::move(*bound), [this, announced](tcp::socket socket) { on_connection_(announced, std::move(socket)); },
      on_shortage_));
  return listening_.back()->local_endpoint();
}

}  // namespace udtcat::gridftp
