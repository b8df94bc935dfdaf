// SPDX-License-Identifier: Apache-2.0
/// An address and a port, and how users write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/result.hpp>

struct sockaddr;

namespace udtcat {

enum class AddressFamily { any, ipv4, ipv6 };

/// A numeric IPv4 or IPv6 address (with scope where it has one) and a port. A value; compares by content.
class Endpoint {
 public:
  Endpoint() = default;
  /// `length` bytes of a sockaddr_in or sockaddr_in6.  errors: Errc::bad_argument for any other family
  [[nodiscard]] static Result<Endpoint> from_sockaddr(const sockaddr* address, std::size_t length);

  [[nodiscard]] AddressFamily family() const { return family_; }
  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] Endpoint with_port(std::uint16_t port) const;
  [[nodiscard]] bool is_wildcard() const;
  [[nodiscard]] bool is_loopback() const;
  /// Valid as long as this endpoint.
  [[nodiscard]] const sockaddr* data() const;
  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }
  /// "192.0.2.1:9000", "[2001:db8::1]:9000".
  [[nodiscard]] std::string to_string() const;
  /// "192.0.2.1", "2001:db8::1".
  [[nodiscard]] std::string host_to_string() const;

  friend bool operator==(const Endpoint& a, const Endpoint& b);

 private:
  static constexpr std::size_t kStorageBytes = 28;  // spec: sizeof(sockaddr_in6)
  alignas(8) unsigned char storage_[kStorageBytes] = {};
  std::size_t size_bytes_ = 0;
  AddressFamily family_ = AddressFamily::any;
};

/// The address, which no host has, by which Connection::path() and try_path() know a session's tunnel.
/// source: RFC 7600 §4.8 (192.0.0.8), RFC 6666 (100::/64)
[[nodiscard]] Endpoint tunnel_address(AddressFamily family);

/// A host and a port as a user writes them.
struct HostPort {
  std::string host;  ///< empty: the wildcard, for a listener
  std::uint16_t port = 0;
};

/// "host:9000", "[::1]:9000"
[[nodiscard]] std::string to_string(const HostPort& target);

/// A peer to be reached: "host:9000", "192.0.2.1:9000", "[::1]:9000".
/// errors: Errc::bad_argument, with the text and the forms that are allowed
[[nodiscard]] Result<HostPort> parse_peer(std::string_view text);
/// Where to listen: the same forms, "9000" and "*:9000"; port 0 lets the system choose.  errors: as parse_peer()
[[nodiscard]] Result<HostPort> parse_local(std::string_view text);

/// Every address of the host, in the order the system prefers. Blocks while the system's resolver works.
/// An empty host gives the wildcards of the family (IPv4 first, then IPv6 where the host has it).
/// errors: Errc::cannot_resolve
[[nodiscard]] Result<std::vector<Endpoint>> resolve(const HostPort& target, AddressFamily family);

}  // namespace udtcat
