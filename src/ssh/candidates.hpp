// SPDX-License-Identifier: Apache-2.0
/// The addresses under which a far end may be reached.
#pragma once

#include <vector>

#include <sys/types.h>

#include <udtcat/endpoint.hpp>

namespace udtcat::ssh {

/// The peers of the TCP connections that process `pid` has open: of an ssh, the address that it really dialled,
/// whatever aliases and resolvers say. Empty where it has none (it goes through a jump host or a master) or the system
/// does not tell.
[[nodiscard]] std::vector<Endpoint> dialled_addresses(pid_t pid);

/// The same in their order, each once.
[[nodiscard]] std::vector<Endpoint> each_once(const std::vector<Endpoint>& candidates);

}  // namespace udtcat::ssh
