/// The address that another process of ours is talking to.
#pragma once

#include <vector>

#include <sys/types.h>

#include <udtcat/endpoint.hpp>

namespace udtcat::rsh {

/// The peers of the TCP connections that process `pid` has open: of an ssh, the address that it really dialled,
/// whatever aliases and resolvers say. Empty where it has none (it goes through a jump host or a master) or the system
/// does not tell.
[[nodiscard]] std::vector<Endpoint> dialled_addresses(pid_t pid);

}  // namespace udtcat::rsh
