// SPDX-License-Identifier: Apache-2.0
/// Where a data connection goes, as PORT, PASV, SPOR, SPAS, EPRT and EPSV write it.  spec: RFC 959 §4.1.2; RFC 2428;
/// docs/spec/gridftp.md §3
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "gridftp/dialogue/reply.hpp"

namespace udtcat::gridftp {

inline constexpr std::size_t kMaxDataPorts = 256;  // guess: hosts of a striped server

/// "127,0,0,1,11,3". `endpoint` is IPv4: the notation has no room for anything else.
[[nodiscard]] std::string to_data_port(const Endpoint& endpoint);
/// The same, alone. Total.  errors: Errc::protocol_violated
[[nodiscard]] Result<Endpoint> parse_data_port(std::string_view text);

/// As EPRT writes it: "|1|192.0.2.1|9000|", "|2|2001:db8::1|9000|".  spec: RFC 2428 §2
[[nodiscard]] std::string to_extended_port(const Endpoint& endpoint);
/// The same. Total.  errors: Errc::protocol_violated
[[nodiscard]] Result<Endpoint> parse_extended_port(std::string_view text);

/// The command that has a server connect to `ports`: PORT or, for several hosts of one server, SPOR; EPRT for IPv6.
/// errors: Errc::bad_argument for several ports of IPv6, which no command has
[[nodiscard]] Result<std::string> port_command(const std::vector<Endpoint>& ports, bool striped);

/// Whether a data connection may go to `target` for a client at `peer`: not to a non-unicast address, to a privileged
/// port, or, for a client on another host, to this host.  spec: RFC 2577 §3.
/// errors: Errc::bad_argument
[[nodiscard]] Status may_connect(const Endpoint& target, const Endpoint& peer);

/// The address to connect to for a port that a server names: the server's own, if the named one is not reachable for
/// us.
/// server   as the control connection has it.  errors: those of may_connect()
[[nodiscard]] Result<Endpoint> reachable_port(const Endpoint& named, const Endpoint& server);

/// Six numbers in a line, as an endpoint with its position.
struct ParsedDataPort {
  Endpoint endpoint;
  std::size_t at = 0;
  std::size_t bytes = 0;
};
/// The first six numbers anywhere in a line. Total.
[[nodiscard]] std::optional<ParsedDataPort> find_data_port(std::string_view line);

/// Of a 227: "Entering Passive Mode (127,0,0,1,11,3)", with brackets or without.  errors: Errc::protocol_violated
[[nodiscard]] Result<Endpoint> passive_port(const Reply& reply);
/// Of a 229 to EPSV: "Entering Extended Passive Mode (|||6446|)", the port at `server`.  spec: RFC 2428 §3.
/// errors: Errc::protocol_violated
[[nodiscard]] Result<Endpoint> extended_passive_port(const Reply& reply, const Endpoint& server);
/// Of a 229 to SPAS: a line each, at most kMaxDataPorts.  errors: Errc::protocol_violated
[[nodiscard]] Result<std::vector<Endpoint>> striped_passive_ports(const Reply& reply);

}  // namespace udtcat::gridftp
