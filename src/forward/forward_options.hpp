// SPDX-License-Identifier: Apache-2.0
/// Services and local clients as users write them: the values of --to and --from. No input or output here.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <udtcat/bridges.hpp>
#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "tool/cli/options.hpp"

namespace udtcat::forward {

/// "localhost:5432", "unix:/run/db.sock".
struct SocketSpec {
  HostPort tcp{};
  std::string unix_path{};  ///< empty: TCP

  [[nodiscard]] bool is_unix() const { return !unix_path.empty(); }
};

/// --to [NAME=]HOST:PORT, --to [NAME=]unix:PATH
struct ServiceOption {
  std::string name;  ///< empty: the service without a name
  SocketSpec address;
};

/// --from [ADDR:]PORT[=NAME], --from unix:PATH[=NAME]
struct LocalListenerOption {
  SocketSpec address;
  std::string service;  ///< of the other end, that its clients reach; empty: the one without a name
};

struct ForwardOptions : tool::Options {
  std::vector<ServiceOption> services{};             ///< to which the other end's clients are connected
  std::vector<LocalListenerOption> listeners{};      ///< where our clients come
  AddressFamily socket_family = AddressFamily::any;  ///< of these
  bool once = false;                                 ///< of a connector: one session, and its end is the end
  std::chrono::milliseconds wait{10'000};            ///< of a client for a session
};

/// errors: Errc::bad_argument, with what is allowed
[[nodiscard]] Result<ServiceOption> service_value(const std::string& text);
/// A port alone means both loopback addresses, as with ssh -L; "*" means every address.
/// errors: Errc::bad_argument, with what is allowed
[[nodiscard]] Result<LocalListenerOption> local_listener_value(const std::string& text);

/// At most kMaxServices, each name once.  errors: Errc::bad_argument
[[nodiscard]] Status check_services(const std::vector<ServiceOption>& services);

/// Of a listener: without TCP beside UDP where a service or a local listener of this host has that TCP port. Else the
/// service could not bind it, or would be ourselves.
void leave_tcp_port_to_its_user(ForwardOptions& options);

[[nodiscard]] std::string shown(const SocketSpec& address);

/// A host name stays one, to be looked up for each stream.
/// errors: Errc::cannot_resolve, of an address of the wrong family
[[nodiscard]] Result<std::vector<Service>> resolve_services(const std::vector<ServiceOption>& services,
                                                            AddressFamily family);
/// One address of each family. Blocks while the resolver works.  errors: Errc::cannot_resolve
[[nodiscard]] Result<SocketAddress> resolve_local_listener(const LocalListenerOption& listener, AddressFamily family);

}  // namespace udtcat::forward
