// SPDX-License-Identifier: Apache-2.0
// How users write an address.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include <udtcat/endpoint.hpp>

#include "lib/core/text.hpp"

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

}  // namespace

std::string to_string(const HostPort& target) {
  if (target.host.empty()) return fmt::format("*:{}", target.port);
  const bool is_ipv6 = target.host.find(':') != std::string::npos;
  return is_ipv6 ? fmt::format("[{}]:{}", target.host, target.port) : fmt::format("{}:{}", target.host, target.port);
}

Result<HostPort> parse_peer(std::string_view text) { return parse_host_port(text, true); }
Result<HostPort> parse_local(std::string_view text) { return parse_host_port(text, false); }

}  // namespace udtcat
