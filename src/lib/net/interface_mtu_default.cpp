#include "lib/net/udp_socket.hpp"

namespace udtcat::net {

std::optional<std::size_t> interface_mtu(const Endpoint&) { return std::nullopt; }

}  // namespace udtcat::net
