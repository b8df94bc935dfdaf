#include "lib/core/log.hpp"
#include "lib/transport/libudt/datagram_guard.hpp"

namespace udtcat::transport::libudt {

Status attach_datagram_guard(const net::UdpSocket&, const GuardLimits&) {
  core::log().warn("this system has no socket filters: strangers can crash libudt");
  return {};
}

}  // namespace udtcat::transport::libudt
