// SPDX-License-Identifier: Apache-2.0
/// Messages of STUN (RFC 8489).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace udtcat::net {

/// Wants no answer and changes nothing at its receiver (RFC 8445 §11). Its transaction id is 0, so that our transport
/// takes it for a packet to no connection; an indication's answers nothing that could be forged.
[[nodiscard]] std::vector<std::byte> binding_indication();
[[nodiscard]] bool is_binding_indication(std::span<const std::byte> datagram);

}  // namespace udtcat::net
