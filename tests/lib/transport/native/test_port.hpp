// SPDX-License-Identifier: Apache-2.0
/// A port of this host, for tests.
#pragma once

#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "lib/transport/native/udp_port.hpp"
#include "support/addresses.hpp"

namespace udtcat::transport::native {

inline constexpr std::uint32_t kTestPortMss = 1500;

inline net::UdpSocket bound_socket(AddressFamily family) {
  auto socket = net::UdpSocket::open(family).value();
  EXPECT_TRUE(socket.bind(udtcat::test::loopback(family)));
  return socket;
}

inline std::unique_ptr<UdpPort> test_port(boost::asio::io_context& io, net::UdpSocket socket) {
  return UdpPort::create(io, std::move(socket), {}, kTestPortMss, nullptr).value();
}

inline std::unique_ptr<UdpPort> test_port(boost::asio::io_context& io) {
  return test_port(io, bound_socket(AddressFamily::ipv4));
}

}  // namespace udtcat::transport::native
