// SPDX-License-Identifier: Apache-2.0
/// Services and local clients as users write them: the values of --to and --from. No input or output here.
#pragma once

#include <string>
#include <vector>

#include <udtcat/bridges.hpp>
#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

namespace udtcat::tool {

/// "localhost:5432", "unix:/run/db.sock".
struct SocketPlace {
  HostPort tcp{};
  std::string unix_path{};  ///< in its place; empty: TCP

  [[nodiscard]] bool is_unix() const { return !unix_path.empty(); }
};

/// --to [NAME=]HOST:PORT, --to [NAME=]unix:PATH
struct ServiceOption {
  std::string name;  ///< empty: the service without a name
  SocketPlace place;
};

/// --from [ADDR:]PORT[=NAME], --from unix:PATH[=NAME]
struct FrontOption {
  SocketPlace place;
  std::string service;  ///< of the other end, that its clients reach; empty: the one without a name
};

/// errors: Errc::bad_argument, with what is allowed
[[nodiscard]] Result<ServiceOption> service_value(const std::string& text);
/// loopback   the host where none is written: as with ssh -L, the whole world is let in only by a "*"
/// errors: Errc::bad_argument, with what is allowed
[[nodiscard]] Result<FrontOption> front_value(const std::string& text, const std::string& loopback);

/// At most kMaxServices, each name once.  errors: Errc::bad_argument
[[nodiscard]] Status check_services(const std::vector<ServiceOption>& services);

/// "tcp localhost:5432", "unix /run/db.sock".
[[nodiscard]] std::string shown(const SocketPlace& place);

/// Blocks while the resolver works.  errors: Errc::cannot_resolve
[[nodiscard]] Result<std::vector<Service>> resolve_services(const std::vector<ServiceOption>& services,
                                                            AddressFamily family);
/// Likewise; of a name one address of each family.
[[nodiscard]] Result<SocketAddress> resolve_front(const FrontOption& front, AddressFamily family);

}  // namespace udtcat::tool
