// SPDX-License-Identifier: Apache-2.0
#include "gridftp/dialogue/data_port.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include "lib/bridge/asio_conversions.hpp"
#include "lib/core/invariant.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/text.hpp"
#include "lib/core/try.hpp"
#include "lib/net/interface_addresses.hpp"

namespace udtcat::gridftp {

namespace {

using boost::asio::ip::address;

/// Without a zone, and as IPv4 where it is that.
address plain_address(const Endpoint& endpoint) {
  const address given = bridge::to_asio(endpoint).address();
  if (given.is_v4()) return given;
  const boost::asio::ip::address_v6 without_zone(given.to_v6().to_bytes());
  if (without_zone.is_v4_mapped()) return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, without_zone);
  return without_zone;
}

/// Loopback, an address of any interface, and whatever else the system routes to itself, also where an IPv4 address is
/// written as an IPv6 one. An address that only a router translates to this host's is not known here.
/// errors: Errc::out_of_resources: it cannot be told
Result<bool> is_of_this_host(const Endpoint& endpoint) {
  const address wanted = plain_address(endpoint);
  const auto is_wanted = [&](const Endpoint& own) { return plain_address(own) == wanted; };
  if (wanted.is_loopback() || std::ranges::any_of(net::interface_addresses(), is_wanted)) return true;
  // An address is this host's if the system would send to it from that address: routes of type local have no interface.
  const auto source = net::source_address(bridge::from_asio(boost::asio::ip::tcp::endpoint(wanted, endpoint.port())));
  if (!source && source.error().code == Errc::out_of_resources) return tl::unexpected(source.error());
  return source && plain_address(*source) == wanted;
}

constexpr std::size_t kNumbers = 6;  // spec: RFC 959 §4.1.2: four of the address, two of the port
using Numbers = std::array<std::uint8_t, kNumbers>;

tl::unexpected<Error> no_data_port(std::string_view text) {
  return fail(Errc::protocol_violated, "read the address of a data connection", core::printable(text, 80));
}

/// How many characters of `text` are six numbers with commas between; 0: it does not begin so.
std::size_t read_numbers(std::string_view text, Numbers& numbers) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < kNumbers; ++i) {
    if (i > 0 && (at == end || *at++ != ',')) return 0;
    const auto [next, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc{}) return 0;
    at = next;
  }
  return static_cast<std::size_t>(at - text.data());
}

Endpoint endpoint_of(const Numbers& numbers) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr =
      htonl(static_cast<std::uint32_t>(numbers[0]) << 24 | static_cast<std::uint32_t>(numbers[1]) << 16 |
            static_cast<std::uint32_t>(numbers[2]) << 8 | numbers[3]);
  address.sin_port = htons(static_cast<std::uint16_t>(numbers[4] << 8 | numbers[5]));
  // SAFETY: it is a sockaddr_in.
  return Endpoint::from_sockaddr(reinterpret_cast<const sockaddr*>(&address), sizeof address).value_or(Endpoint());
}

}  // namespace

std::string to_data_port(const Endpoint& endpoint) {
  UDTCAT_INVARIANT(endpoint.family() == AddressFamily::ipv4, "another address is written by EPRT or EPSV");
  std::string text = endpoint.host_to_string();
  for (char& each : text)
    if (each == '.') each = ',';
  return fmt::format("{},{},{}", text, endpoint.port() >> 8, endpoint.port() & 0xff);
}

Result<Endpoint> parse_data_port(std::string_view text) {
  Numbers numbers{};
  if (text.empty() || read_numbers(text, numbers) != text.size()) return no_data_port(text);
  return endpoint_of(numbers);
}

std::string to_extended_port(const Endpoint& endpoint) {
  const auto address = bridge::to_asio(endpoint).address();
  if (address.is_v4()) return fmt::format("|1|{}|{}|", address.to_string(), endpoint.port());
  // The other host has zones of its own.
  const boost::asio::ip::address_v6 without_zone(address.to_v6().to_bytes());
  return fmt::format("|2|{}|{}|", without_zone.to_string(), endpoint.port());
}

Result<std::string> port_command(const std::vector<Endpoint>& ports, bool striped) {
  if (ports.front().family() == AddressFamily::ipv6) {
    if (striped)
      return fail(Errc::bad_argument, "announce ports at " + ports.front().host_to_string(),
                  "FTP has no command for several of IPv6: without --stripes, or by an IPv4 address");
    return "EPRT " + to_extended_port(ports.front());
  }
  std::string command = striped ? "SPOR" : "PORT";
  for (const Endpoint& port : ports) command += ' ' + to_data_port(port);
  return command;
}

Result<Endpoint> parse_extended_port(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 1; at < text.size();) {
    const auto end = text.find(text.front(), at);
    if (end == std::string_view::npos) return no_data_port(text);
    words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (words.size() != 3) return no_data_port(text);
  std::uint16_t port = 0;
  const char* const end = words[2].data() + words[2].size();
  if (const auto read = std::from_chars(words[2].data(), end, port); read.ec != std::errc{} || port == 0)
    return no_data_port(text);
  sockaddr_in ipv4{};
  ipv4.sin_family = AF_INET;
  ipv4.sin_port = htons(port);
  sockaddr_in6 ipv6{};
  ipv6.sin6_family = AF_INET6;
  ipv6.sin6_port = htons(port);
  // SAFETY: a sockaddr_in and a sockaddr_in6 are what is said of them.
  if (words[0] == "1" && ::inet_pton(AF_INET, words[1].c_str(), &ipv4.sin_addr) == 1)
    return Endpoint::from_sockaddr(reinterpret_cast<const sockaddr*>(&ipv4), sizeof ipv4);
  // An IPv4-mapped address is refused: it would not compare equal to the IPv4 address.
  if (words[0] == "2" && ::inet_pton(AF_INET6, words[1].c_str(), &ipv6.sin6_addr) == 1 &&
      !IN6_IS_ADDR_V4MAPPED(&ipv6.sin6_addr))
    return Endpoint::from_sockaddr(reinterpret_cast<const sockaddr*>(&ipv6), sizeof ipv6);
  return no_data_port(text);
}

Status may_connect(const Endpoint& target, const Endpoint& peer) {
  constexpr std::uint16_t kFirstFreePort = 1024;  // spec: RFC 2577 §3: a data connection to a service is an attack
  const std::string what = "bring data to " + target.to_string();
  if (target.is_wildcard() || bridge::to_asio(target).address().is_multicast())
    return fail(Errc::bad_argument, what, "that is no host's address");
  if (target.port() < kFirstFreePort) return fail(Errc::bad_argument, what, "that port is a service's");
  UDTCAT_TRY(const bool is_here, is_of_this_host(target));
  UDTCAT_TRY(const bool peer_is_here, is_of_this_host(peer));
  if (is_here && !peer_is_here)
    return fail(Errc::bad_argument, what, "that would be this host itself, not " + peer.host_to_string());
  return {};
}

namespace {

/// Addresses of private networks, which lead nowhere from outside, or to another host.
/// spec: RFC 1918, RFC 6598, RFC 3927
bool is_private(const Endpoint& endpoint) {
  const auto address = bridge::to_asio(endpoint).address();
  if (address.is_loopback() || address.is_unspecified()) return true;
  if (!address.is_v4()) return address.to_v6().is_link_local() || (address.to_v6().to_bytes()[0] & 0xfeU) == 0xfcU;
  const auto bytes = address.to_v4().to_bytes();
  return bytes[0] == 10 || (bytes[0] == 172 && (bytes[1] & 0xf0U) == 16) || (bytes[0] == 192 && bytes[1] == 168) ||
         (bytes[0] == 100 && (bytes[1] & 0xc0U) == 64) || (bytes[0] == 169 && bytes[1] == 254);
}

}  // namespace

Result<Endpoint> reachable_port(const Endpoint& named, const Endpoint& server) {
  const bool behind_nat = is_private(named) && !is_private(server);
  UDTCAT_TRY(const bool names_this_host, is_of_this_host(named));
  UDTCAT_TRY(const bool server_is_here, is_of_this_host(server));
  const bool astray = names_this_host && !server_is_here;
  const Endpoint port = behind_nat || astray || named.is_wildcard() ? server.with_port(named.port()) : named;
  UDTCAT_CHECK(may_connect(port, server));
  return port;
}

std::optional<ParsedDataPort> find_data_port(std::string_view line) {
  for (std::size_t at = 0; (at = line.find_first_of("0123456789", at)) != std::string_view::npos;) {
    Numbers numbers{};
    if (const std::size_t bytes = read_numbers(line.substr(at), numbers); bytes > 0)
      return ParsedDataPort{endpoint_of(numbers), at, bytes};
    at = line.find_first_not_of("0123456789", at);
    if (at == std::string_view::npos) break;
  }
  return std::nullopt;
}

Result<Endpoint> passive_port(const Reply& reply) {
  for (const std::string& line : reply.lines)
    if (auto port = find_data_port(line)) return port->endpoint;
  return no_data_port(reply.text());
}

Result<Endpoint> extended_passive_port(const Reply& reply, const Endpoint& server) {
  const std::string text = reply.text();
  const auto begin = text.rfind('(');
  const auto end = text.rfind(')');
  if (begin == std::string::npos || end == std::string::npos || end < begin + 2) return no_data_port(text);
  const std::string written = text.substr(begin + 1, end - begin - 1);
  const char mark = written.front();
  // RFC 2428 has no address here; some servers write one, which is ignored.
  const auto port_at = written.size() < 2 ? std::string::npos : written.rfind(mark, written.size() - 2);
  if (port_at == std::string::npos || written.back() != mark || std::ranges::count(written, mark) != 4)
    return no_data_port(text);
  const auto port = core::parse_number<std::uint16_t>(written.substr(port_at + 1, written.size() - port_at - 2));
  if (!port || *port == 0) return no_data_port(text);
  return server.with_port(*port);
}

Result<std::vector<Endpoint>> striped_passive_ports(const Reply& reply) {
  std::vector<Endpoint> ports;
  for (const std::string& line : reply.lines)
    if (auto port = find_data_port(line)) ports.push_back(port->endpoint);
  if (ports.empty() || ports.size() > kMaxDataPorts) return no_data_port(reply.text());
  return ports;
}

}  // namespace udtcat::gridftp
