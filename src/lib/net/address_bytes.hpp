// SPDX-License-Identifier: Apache-2.0
/// Addresses as protocols carry them: 4 or 16 bytes in network order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <udtcat/endpoint.hpp>

namespace udtcat::net {

/// Valid as long as `endpoint`; empty without a family.
[[nodiscard]] std::span<const std::byte> address_bytes(const Endpoint& endpoint);
/// None unless `address` has 4 or 16 bytes.
[[nodiscard]] std::optional<Endpoint> endpoint_of(std::span<const std::byte> address, std::uint16_t port);

}  // namespace udtcat::net
