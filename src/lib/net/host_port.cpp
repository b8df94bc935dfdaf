// SPDX-License-Identifier: Apache-2.0
// How users write an address, and what the system's resolver makes of it.
#include <algorithm>
#include <cerrno>
#include <memory>

#include <netdb.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include <udtcat/endpoint.hpp>

#include "lib/core/text.hpp"
#include "lib/core/user_text.hpp"
#include "lib/net/bind.hpp"

namespace udtcat {

namespace {

constexpr std::size_t kMaxHostBytes = 253;  // spec: RFC 1035 §2.3.4, 255 octets on the wire

tl::unexpected<Error> bad_host_port(std::string_view text, bool host_required) {
  const char* const forms =
      host_required ? "HOST:PORT, 192.0.2.1:PORT or [2001:db8::1]:PORT with PORT from 1 to 65535"
                    : "PORT, HOST:PORT, *:PORT, 192.0.2.1:PORT or [2001:db8::1]:PORT with PORT from 0 to 65535";
  return fail(Errc::bad_argument, fmt::format("read address '{}'", text), fmt::format("allowed are {}", forms));
}

std::optional<std::uint16_t> parse_port(std::string_view text, bool zero_allowed) {
  const auto port = core::parse_number<std::uint16_t>(text);
  return zero_allowed || port != 0 ? port : std::nullopt;
}

bool plausible_host(std::string_view host, bool in_brackets) {
  const auto printable = [](char c) { return c > ' ' && c < 0x7f && c != '[' && c != ']' && c != '*'; };
  const bool has_colon = host.find(':') != std::string_view::npos;
  return !host.empty() && host.size() <= kMaxHostBytes && has_colon == in_brackets &&
         std::all_of(host.begin(), host.end(), printable);
}

Result<HostPort> parse_host_port(std::string_view text, bool host_required) {
  HostPort parsed;
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    const auto port = parse_port(text, true);
    if (host_required || !port) return bad_host_port(text, host_required);
    parsed.port = *port;
    return parsed;
  }
  const auto port = parse_port(text.substr(colon + 1), !host_required);
  if (!port) return bad_host_port(text, host_required);
  parsed.port = *port;
  std::string_view host = text.substr(0, colon);
  if (host == "*" && !host_required) return parsed;
  const bool in_brackets = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (in_brackets) host = host.substr(1, host.size() - 2);
  if (!plausible_host(host, in_brackets)) return bad_host_port(text, host_required);
  parsed.host = host;
  return parsed;
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using AddressList = std::unique_ptr<addrinfo, FreeAddresses>;

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

}  // namespace

Result<HostPort> parse_peer(std::string_view text) { return parse_host_port(text, true); }
Result<HostPort> parse_local(std::string_view text) { return parse_host_port(text, false); }

Result<std::vector<Endpoint>> resolve(const HostPort& target, AddressFamily family) {
  const std::string what = fmt::format("resolve '{}'", target.host);
  if (target.host.empty()) {
    auto found = wildcards(target.port, family);
    if (found.empty())
      return fail(Errc::cannot_resolve, "find a wildcard address", "this host has no such address family");
    return found;
  }
  addrinfo hints{};
  hints.ai_family = native_family(family);
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* raw = nullptr;
  const int refused = ::getaddrinfo(target.host.c_str(), nullptr, &hints, &raw);
  const AddressList list(raw);
  if (refused != 0)
    return fail(Errc::cannot_resolve, what,
                refused == EAI_SYSTEM ? core::errno_text(errno) : std::string(::gai_strerror(refused)));
  std::vector<Endpoint> found;
  for (const addrinfo* each = list.get(); each != nullptr; each = each->ai_next) {
    const auto endpoint = Endpoint::from_sockaddr(each->ai_addr, each->ai_addrlen);
    if (!endpoint) continue;
    const Endpoint with_port = endpoint->with_port(target.port);
    if (std::find(found.begin(), found.end(), with_port) == found.end()) found.push_back(with_port);
  }
  if (found.empty()) return fail(Errc::cannot_resolve, what, "no IPv4 or IPv6 address");
  return found;
}

}  // namespace udtcat
