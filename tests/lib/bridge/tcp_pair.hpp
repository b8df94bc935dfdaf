// SPDX-License-Identifier: Apache-2.0
/// TCP sockets on the loopback for the bridge's tests.
#pragma once

#include <utility>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <udtcat/endpoint.hpp>

#include "lib/bridge/asio_conversions.hpp"
#include "support/addresses.hpp"

namespace udtcat::bridge {

using boost::asio::ip::tcp;

inline tcp::endpoint loopback(std::uint16_t port = 0) { return {boost::asio::ip::address_v4::loopback(), port}; }
inline Endpoint loopback_v4() { return test::loopback(AddressFamily::ipv4); }
inline Endpoint loopback_v6() { return test::loopback(AddressFamily::ipv6); }

struct TcpPair {
  explicit TcpPair(boost::asio::io_context& io) : ours(io), theirs(io) {
    tcp::acceptor acceptor(io, loopback());
    theirs.connect(acceptor.local_endpoint());
    ours = acceptor.accept();
  }
  tcp::socket ours;
  tcp::socket theirs;
};

/// A port that refuses connections and that nobody else is given meanwhile: bound, never listened on.
struct RefusingPort {
  explicit RefusingPort(boost::asio::io_context& io) : socket(io, loopback()) {}
  [[nodiscard]] Endpoint endpoint() const { return from_asio(socket.local_endpoint()); }
  tcp::socket socket;
};

/// A port that answers nobody: its backlog is full, and Linux then drops what asks to connect.
struct SilentPort {
  explicit SilentPort(boost::asio::io_context& io) : acceptor(io), filler(io) {
    acceptor.open(tcp::v4());
    acceptor.bind(loopback());
    acceptor.listen(0);
    filler.connect(acceptor.local_endpoint());
  }
  [[nodiscard]] Endpoint endpoint() const { return from_asio(acceptor.local_endpoint()); }
  tcp::acceptor acceptor;
  tcp::socket filler;
};

/// The error of a read that finds no data.
inline boost::system::error_code read_error(tcp::socket& socket) {
  char byte = 0;
  boost::system::error_code error;
  const std::size_t bytes = socket.read_some(boost::asio::buffer(&byte, 1), error);
  EXPECT_EQ(bytes, 0U);
  return error;
}

}  // namespace udtcat::bridge
