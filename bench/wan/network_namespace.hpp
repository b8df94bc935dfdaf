// SPDX-License-Identifier: Apache-2.0
/// Network namespaces without names: each lasts as long as a descriptor or a process is in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include <udtcat/result.hpp>

#include "wan/descriptor.hpp"

namespace udtcat::wan {

/// The inode finds the namespace's processes, but may be reused by a later namespace; the cookie never is.
struct NamespaceId {
  std::uint64_t inode = 0;
  std::uint64_t cookie = 0;
};

struct NetworkNamespace {
  Descriptor descriptor;
  NamespaceId id;
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
[[nodiscard]] Status enter(const NetworkNamespace& netns);

/// Sets a sysctl, "net.ipv4.tcp_rmem", in the namespace that the caller is in.
[[nodiscard]] Status set_sysctl(const std::string& name, const std::string& value);

/// The processes that live in the namespace, but for the caller itself.
[[nodiscard]] std::vector<pid_t> processes_in(const NamespaceId& id);

/// Ends them all, and waits until they have gone.
void kill_processes_in(const NamespaceId& id);

}  // namespace udtcat::wan
