// How users write an address, and what the system's resolver makes of it.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include <udtcat/endpoint.hpp>

#include "lib/net/udp_socket.hpp"

namespace udtcat {

namespace {

constexpr std::size_t kMaxHostBytes = 253;  // spec: RFC 1035 §2.3.4, 255 octets on the wire

tl::unexpected<Error> bad_host_port(std::string_view text, bool host_required) {
  const char* const forms =
      host_required ? "HOST:PORT, 192.0.2.1:PORT or [2001:db8::1]:PORT with PORT from 1 to 65535"
                    : "PORT, HOST:PORT, *:PORT, 192.0.2.1:PORT or [2001:db8::1]:PORT with PORT from 0 to 65535";
  return fail(Errc::bad_argument, fmt::format("read address '{}'", text), fmt::format("allowed are {}", forms));
}

bool parse_port(std::string_view text, bool zero_allowed, std::uint16_t& port) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size() && (zero_allowed || port != 0);
}

bool plausible_host(std::string_view host, bool in_brackets) {
  const auto printable = [](char c) { return c > ' ' && c < 0x7f && c != '[' && c != ']' && c != '*'; };
  const bool has_colon = host.find(':') != std::string_view::npos;
  return !host.empty() && host.size() <= kMaxHostBytes && has_colon == in_brackets &&
         std::all_of(host.begin(), host.end(), printable);
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using AddressList = std::unique_ptr<addrinfo, FreeAddresses>;

/// The wildcards of the families that this host can bind at all: a kernel without IPv6 has no "::".
std::vector<Endpoint> wildcards(std::uint16_t port, AddressFamily family) {
  std::vector<Endpoint> found;
  const auto add_if_usable = [&](const auto& address) {
    const auto endpoint = Endpoint::from_sockaddr(reinterpret_cast<const sockaddr*>(&address),
                                                  sizeof address);  // SAFETY: a sockaddr_in or _in6
    if (endpoint && net::UdpSocket::open(endpoint->family())) found.push_back(endpoint->with_port(port));
  };
  sockaddr_in any4{};
  any4.sin_family = AF_INET;
  sockaddr_in6 any6{};
  any6.sin6_family = AF_INET6;
  if (family != AddressFamily::ipv6) add_if_usable(any4);
  if (family != AddressFamily::ipv4) add_if_usable(any6);
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

Result<HostPort> parse_host_port(std::string_view text, bool host_required) {
  HostPort parsed;
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    if (host_required || !parse_port(text, true, parsed.port)) return bad_host_port(text, host_required);
    return parsed;
  }
  if (!parse_port(text.substr(colon + 1), !host_required, parsed.port)) return bad_host_port(text, host_required);
  std::string_view host = text.substr(0, colon);
  if (host == "*" && !host_required) return parsed;
  const bool in_brackets = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (in_brackets) host = host.substr(1, host.size() - 2);
  if (!plausible_host(host, in_brackets)) return bad_host_port(text, host_required);
  parsed.host = host;
  return parsed;
}

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
                refused == EAI_SYSTEM ? errno_text(errno) : std::string(::gai_strerror(refused)));
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
