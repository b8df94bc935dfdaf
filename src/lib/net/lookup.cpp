// SPDX-License-Identifier: Apache-2.0
#include "lib/net/lookup.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>

#include <netdb.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include "lib/core/user_text.hpp"
#include "lib/net/bind.hpp"

namespace udtcat {

namespace {

struct AddressesDeleter {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using AddressList = std::unique_ptr<addrinfo, AddressesDeleter>;

/// The wildcards of the families that this host can bind at all: a kernel without IPv6 has no "::".
std::vector<Endpoint> wildcards(std::uint16_t port, AddressFamily family) {
  std::vector<Endpoint> found;
  for (const auto each : {AddressFamily::ipv4, AddressFamily::ipv6})
    if ((family == AddressFamily::any || family == each) && net::UdpSocket::open(each))
      found.push_back(net::wildcard(each).with_port(port));
  return found;
}

int native_family(AddressFamily family) {
  switch (family) {
    case AddressFamily::ipv4:
      return AF_INET;
    case AddressFamily::ipv6:
      return AF_INET6;
    case AddressFamily::any:
      break;
  }
  return AF_UNSPEC;
}

Result<std::vector<Endpoint>> endpoints_of(const addrinfo* list, const HostPort& target) {
  std::vector<Endpoint> found;
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    const auto endpoint = Endpoint::from_sockaddr(each->ai_addr, each->ai_addrlen);
    if (!endpoint) continue;
    const Endpoint with_port = endpoint->with_port(target.port);
    if (std::find(found.begin(), found.end(), with_port) == found.end()) found.push_back(with_port);
  }
  if (found.empty())
    return fail(Errc::cannot_resolve, fmt::format("resolve '{}'", target.host), "no IPv4 or IPv6 address");
  return found;
}

}  // namespace

namespace net {

LookupResult look_up(const HostPort& target, AddressFamily family) {
  if (target.host.empty()) {
    auto found = wildcards(target.port, family);
    if (found.empty())
      return {fail(Errc::cannot_resolve, "find a wildcard address", "this host has no such address family")};
    return {std::move(found)};
  }
  addrinfo hints{};
  hints.ai_family = native_family(family);
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* raw = nullptr;
  const int refused = ::getaddrinfo(target.host.c_str(), nullptr, &hints, &raw);
  const std::string cause = refused == EAI_SYSTEM ? core::errno_text(errno) : std::string(::gai_strerror(refused));
  const AddressList list(raw);
  if (refused == 0) return {endpoints_of(list.get(), target)};
  const bool knows_nothing =
      refused == EAI_AGAIN || refused == EAI_FAIL || refused == EAI_SYSTEM || refused == EAI_MEMORY;
  return {fail(Errc::cannot_resolve, fmt::format("resolve '{}'", target.host), cause), knows_nothing};
}

}  // namespace net

Result<std::vector<Endpoint>> resolve(const HostPort& target, AddressFamily family) {
  return net::look_up(target, family).found;
}

}  // namespace udtcat
