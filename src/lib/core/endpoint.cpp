// SPDX-License-Identifier: Apache-2.0
#include <udtcat/endpoint.hpp>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

namespace udtcat {

namespace {

// The bytes of an endpoint are one of the two structures, written whole; they are read back by copy, so that no
// pointer to the storage is ever used as a pointer to a structure that was not made there.
template <typename Address>
Address read_as(const sockaddr* from) {
  Address address;
  std::memcpy(&address, from, sizeof address);
  return address;
}

}  // namespace

Result<Endpoint> Endpoint::from_sockaddr(const sockaddr* address, std::size_t length) {
  Endpoint endpoint;
  static_assert(sizeof(sockaddr_in6) <= kStorageBytes);
  const auto family_fits = [&](int family, std::size_t needed) {
    return length >= needed && address->sa_family == family;
  };
  if (address != nullptr && family_fits(AF_INET, sizeof(sockaddr_in))) {
    const auto given = read_as<sockaddr_in>(address);
    sockaddr_in clean{};  // padding and the platform's extra fields are zero, so that endpoints compare by content
    clean.sin_family = AF_INET;
    clean.sin_port = given.sin_port;
    clean.sin_addr = given.sin_addr;
    std::memcpy(endpoint.storage_, &clean, sizeof clean);
    endpoint.size_bytes_ = sizeof clean;
    endpoint.family_ = AddressFamily::ipv4;
    return endpoint;
  }
  if (address != nullptr && family_fits(AF_INET6, sizeof(sockaddr_in6))) {
    const auto given = read_as<sockaddr_in6>(address);
    sockaddr_in6 clean{};
    clean.sin6_family = AF_INET6;
    clean.sin6_port = given.sin6_port;
    clean.sin6_addr = given.sin6_addr;
    clean.sin6_scope_id = given.sin6_scope_id;
    std::memcpy(endpoint.storage_, &clean, sizeof clean);
    endpoint.size_bytes_ = sizeof clean;
    endpoint.family_ = AddressFamily::ipv6;
    return endpoint;
  }
  return fail(Errc::bad_argument, "read a socket address", "neither IPv4 nor IPv6");
}

const sockaddr* Endpoint::data() const {
  // SAFETY: storage_ is aligned for every sockaddr and holds one; the kernel reads it as the family says.
  return reinterpret_cast<const sockaddr*>(storage_);
}

std::uint16_t Endpoint::port() const {
  switch (family_) {
    case AddressFamily::ipv4:
      return ntohs(read_as<sockaddr_in>(data()).sin_port);
    case AddressFamily::ipv6:
      return ntohs(read_as<sockaddr_in6>(data()).sin6_port);
    case AddressFamily::any:
      break;
  }
  return 0;
}

Endpoint Endpoint::with_port(std::uint16_t port) const {
  Endpoint copy = *this;
  if (family_ == AddressFamily::ipv4) {
    auto address = read_as<sockaddr_in>(data());
    address.sin_port = htons(port);
    std::memcpy(copy.storage_, &address, sizeof address);
  } else if (family_ == AddressFamily::ipv6) {
    auto address = read_as<sockaddr_in6>(data());
    address.sin6_port = htons(port);
    std::memcpy(copy.storage_, &address, sizeof address);
  }
  return copy;
}

bool Endpoint::is_wildcard() const {
  if (family_ == AddressFamily::ipv4) return read_as<sockaddr_in>(data()).sin_addr.s_addr == htonl(INADDR_ANY);
  if (family_ != AddressFamily::ipv6) return false;
  const auto address = read_as<sockaddr_in6>(data());
  return IN6_IS_ADDR_UNSPECIFIED(&address.sin6_addr) != 0;
}

bool Endpoint::is_loopback() const {
  constexpr std::uint32_t kLoopbackNet = 127;  // spec: RFC 1122 §3.2.1.3 (g), 127/8
  if (family_ == AddressFamily::ipv4) return ntohl(read_as<sockaddr_in>(data()).sin_addr.s_addr) >> 24 == kLoopbackNet;
  if (family_ != AddressFamily::ipv6) return false;
  const auto address = read_as<sockaddr_in6>(data());
  if (IN6_IS_ADDR_LOOPBACK(&address.sin6_addr)) return true;
  return IN6_IS_ADDR_V4MAPPED(&address.sin6_addr) && address.sin6_addr.s6_addr[12] == kLoopbackNet;
}

std::string Endpoint::host_to_string() const {
  if (family_ == AddressFamily::any) return "*";
  std::array<char, NI_MAXHOST> host{};
  // A numeric address needs no resolver, so this neither blocks nor, for the two families, fails.
  if (::getnameinfo(data(), static_cast<socklen_t>(size_bytes_), host.data(), host.size(), nullptr, 0,
                    NI_NUMERICHOST) != 0)
    return "?";
  return host.data();
}

std::string Endpoint::to_string() const {
  const char* const form = family_ == AddressFamily::ipv6 ? "[{}]:{}" : "{}:{}";
  return fmt::format(fmt::runtime(form), host_to_string(), port());
}

bool operator==(const Endpoint& a, const Endpoint& b) {
  return a.family_ == b.family_ && std::equal(std::begin(a.storage_), std::end(a.storage_), std::begin(b.storage_));
}

Endpoint tunnel_address(AddressFamily family) {
  constexpr std::uint16_t kPort = 9;  // spec: RFC 863, discard
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(kPort);
  ::inet_pton(AF_INET6, "100::8", &v6.sin6_addr);
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(kPort);
  ::inet_pton(AF_INET, "192.0.0.8", &v4.sin_addr);
  const bool is_v6 = family == AddressFamily::ipv6;
  const auto* address = is_v6 ? reinterpret_cast<const sockaddr*>(&v6) : reinterpret_cast<const sockaddr*>(&v4);
  return Endpoint::from_sockaddr(address, is_v6 ? sizeof v6 : sizeof v4).value_or(Endpoint());
}

}  // namespace udtcat
