// SPDX-License-Identifier: Apache-2.0
/// Network namespaces without names: they last as long as somebody holds or inhabits them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include <udtcat/result.hpp>

#include "wan/descriptor.hpp"

namespace udtcat::wan {

/// The inode finds the inhabitants, and is given again to another namespace when this one has gone; the cookie never
/// is.
struct NamespaceName {
  std::uint64_t inode = 0;
  std::uint64_t cookie = 0;
};

/// Where a process lives; what another can enter.
struct NetworkNamespace {
  Descriptor descriptor;
  NamespaceName name;
};

/// Becomes root of a user namespace of its own, where the caller is not root already. Before any thread or namespace is
/// made.
///
/// returns  the user namespace, or an invalid descriptor if none was needed
/// errors   Errc::out_of_resources where the system does not allow it to ordinary users
[[nodiscard]] Result<Descriptor> become_root();

/// Makes a namespace with its loopback up, and enters it.
[[nodiscard]] Result<NetworkNamespace> make_network_namespace();

/// Moves the calling thread. Call from a process with one thread.
[[nodiscard]] Status enter(const NetworkNamespace& place);

/// Sets a sysctl, "net.ipv4.tcp_rmem", in the namespace that the caller is in.
[[nodiscard]] Status set_sysctl(const std::string& name, const std::string& value);

/// The processes that live in the namespace, but for the caller itself.
[[nodiscard]] std::vector<pid_t> inhabitants(const NamespaceName& name);

/// Ends them all, and waits until they have gone.
void end_inhabitants(const NamespaceName& name);

}  // namespace udtcat::wan
