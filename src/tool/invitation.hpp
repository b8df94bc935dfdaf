/// The command that a listener which made a key asks its user to run on the other host. It has no key in it: shells
/// remember commands, and journals keep what services print.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <udtcat/endpoint.hpp>

#include "tool/options.hpp"

namespace udtcat::tool {

/// An address under which another host may find one that is bound to `locals`: the bound one if that says something,
/// else the first global unicast address among `interfaces` of a family that is bound, else loopback.
[[nodiscard]] std::string advertised_host(const std::vector<Endpoint>& locals, const std::vector<Endpoint>& interfaces);

/// Neither loopback, link-local, multicast nor the wildcard: an address that other hosts can use, a private one
/// included.
[[nodiscard]] bool is_global_unicast(const Endpoint& address);

/// The addresses of the interfaces that are up, as the system lists them; empty if it will not.
[[nodiscard]] std::vector<Endpoint> interface_addresses();

/// "udtcat 192.0.2.1 9000", with the options in which both ends must agree: Options::counterpart, filled in.
[[nodiscard]] std::string invitation(const Options& options, const std::string& host, std::uint16_t port);

}  // namespace udtcat::tool
