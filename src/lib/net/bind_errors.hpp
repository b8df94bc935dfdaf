// SPDX-License-Identifier: Apache-2.0
/// Errors of bind(2), where there are several ports.
#pragma once

#include <cerrno>
#include <cstdint>

#include <udtcat/result.hpp>

namespace udtcat::net {

inline constexpr std::uint16_t kFirstUnprivilegedPort = 1024;  // spec: Linux net.ipv4.ip_unprivileged_port_start

/// Whether the next port may do: this one is taken, or for root alone. Other errors would come with each of them.
[[nodiscard]] inline bool another_port_may_do(const Error& error, std::uint16_t port) {
  if (error.code != Errc::cannot_bind) return false;
  return error.errno_value == EADDRINUSE || (error.errno_value == EACCES && port < kFirstUnprivilegedPort);
}

}  // namespace udtcat::net
