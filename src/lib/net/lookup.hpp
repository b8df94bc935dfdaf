// SPDX-License-Identifier: Apache-2.0
/// Addresses of a name, by the system's resolver. resolve() is in <udtcat/endpoint.hpp>.
#pragma once

#include <vector>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

namespace udtcat::net {

struct LookupResult {
  Result<std::vector<Endpoint>> found;
  bool resolver_failed = false;  ///< nothing was learned of the name: it may be there, or not
};

/// As resolve(), telling a name that is not there from a resolver that does not know.
/// Threads: any.
[[nodiscard]] LookupResult look_up(const HostPort& target, AddressFamily family);

}  // namespace udtcat::net
