// SPDX-License-Identifier: Apache-2.0
/// Conversions from and to Asio's errors and endpoints.
#pragma once

#include <string>
#include <system_error>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>

#include <udtcat/endpoint.hpp>

namespace udtcat::bridge {

/// An errno gets the generic category, so that it compares equal to a std::errc.
[[nodiscard]] std::error_code from_asio(const boost::system::error_code& error);
[[nodiscard]] std::string cause_of(const std::error_code& error);

[[nodiscard]] Endpoint from_asio(const boost::asio::ip::tcp::endpoint& endpoint);
/// The path of a unix socket; empty where it has none.
[[nodiscard]] std::string unix_path(const boost::asio::generic::stream_protocol::endpoint& endpoint);
/// `endpoint` has an address.
[[nodiscard]] boost::asio::ip::tcp::endpoint to_asio(const Endpoint& endpoint);

}  // namespace udtcat::bridge
