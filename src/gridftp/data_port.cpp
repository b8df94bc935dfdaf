#include "gridftp/data_port.hpp"

#include <array>
#include <charconv>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include "core/invariant.hpp"
#include "core/printable.hpp"

namespace udtcat::gridftp {

namespace {

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
  UDTCAT_INVARIANT(endpoint.family() == AddressFamily::ipv4, "who has another address uses EPRT or EPSV");
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

std::optional<WrittenDataPort> find_data_port(std::string_view line) {
  for (std::size_t at = 0; (at = line.find_first_of("0123456789", at)) != std::string_view::npos;) {
    Numbers numbers{};
    if (const std::size_t bytes = read_numbers(line.substr(at), numbers); bytes > 0)
      return WrittenDataPort{endpoint_of(numbers), at, bytes};
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

Result<std::vector<Endpoint>> striped_passive_ports(const Reply& reply) {
  std::vector<Endpoint> ports;
  for (const std::string& line : reply.lines)
    if (auto port = find_data_port(line)) ports.push_back(port->endpoint);
  if (ports.empty() || ports.size() > kMostDataPorts) return no_data_port(reply.text());
  return ports;
}

}  // namespace udtcat::gridftp
