// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/asio_conversions.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <sys/un.h>

#include "lib/core/invariant.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::bridge {

std::error_code from_asio(const boost::system::error_code& error) {
  if (error.category() == boost::system::system_category()) return {error.value(), std::generic_category()};
  return error;
}

std::string cause_of(const std::error_code& error) {
  return error.category() == std::generic_category() ? core::errno_text(error.value()) : error.message();
}

Endpoint from_asio(const boost::asio::ip::tcp::endpoint& endpoint) {
  return Endpoint::from_sockaddr(endpoint.data(), endpoint.size()).value_or(Endpoint());
}

std::string unix_path(const boost::asio::generic::stream_protocol::endpoint& endpoint) {
  sockaddr_un address{};
  if (endpoint.size() <= offsetof(sockaddr_un, sun_path)) return {};
  std::memcpy(&address, endpoint.data(), std::min(endpoint.size(), sizeof address));
  return {address.sun_path, ::strnlen(address.sun_path, sizeof address.sun_path)};
}

boost::asio::ip::tcp::endpoint to_asio(const Endpoint& endpoint) {
  boost::asio::ip::tcp::endpoint result;
  UDTCAT_INVARIANT(endpoint.size_bytes() > 0 && endpoint.size_bytes() <= result.capacity(),
                   "an endpoint that was resolved is an IPv4 or IPv6 address");
  std::memcpy(result.data(), endpoint.data(), endpoint.size_bytes());
  result.resize(endpoint.size_bytes());
  return result;
}

}  // namespace udtcat::bridge
