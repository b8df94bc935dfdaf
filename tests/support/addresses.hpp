// SPDX-License-Identifier: Apache-2.0
/// Addresses as tests write them: numbers, no resolver.
#pragma once

#include <string>

#include <boost/asio/ip/udp.hpp>

#include <udtcat/endpoint.hpp>

namespace udtcat::test {

inline Endpoint address_of(const std::string& host, std::uint16_t port) {
  const boost::asio::ip::udp::endpoint at(boost::asio::ip::make_address(host), port);
  return Endpoint::from_sockaddr(at.data(), at.size()).value();
}

inline Endpoint loopback(AddressFamily family, std::uint16_t port = 0) {
  return address_of(family == AddressFamily::ipv6 ? "::1" : "127.0.0.1", port);
}

}  // namespace udtcat::test
