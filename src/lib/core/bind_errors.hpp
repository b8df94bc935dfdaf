// SPDX-License-Identifier: Apache-2.0
/// Errors of bind(2), where there is a range of ports.
#pragma once

#include <cerrno>
#include <cstdint>

#include <netinet/in.h>

#include <udtcat/result.hpp>

namespace udtcat::core {

/// Whether another port may do: this one is taken, or for root alone. Other errors come with each of them.
[[nodiscard]] inline bool is_of_port(const Error& error, std::uint16_t port) {
  if (error.code != Errc::cannot_bind) return false;
  return error.errno_value == EADDRINUSE || (error.errno_value == EACCES && port < IPPORT_RESERVED);
}

}  // namespace udtcat::core
