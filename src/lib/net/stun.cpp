// SPDX-License-Identifier: Apache-2.0
#include "lib/net/stun.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "lib/core/byte_order.hpp"

namespace udtcat::net {

namespace {

constexpr std::size_t kHeaderBytes = 20;  // spec: RFC 8489 §5

constexpr auto kBindingIndication = [] {
  constexpr std::uint16_t kType = 0x11;               // spec: RFC 8489 §5 and §17.1
  constexpr std::uint32_t kMagicCookie = 0x2112A442;  // spec: RFC 8489 §5
  std::array<std::byte, kHeaderBytes> message{};
  core::store_be(message, kType);
  core::store_be(std::span(message).subspan<4>(), kMagicCookie);
  return message;
}();

}  // namespace

std::vector<std::byte> binding_indication() { return {kBindingIndication.begin(), kBindingIndication.end()}; }

bool is_binding_indication(std::span<const std::byte> datagram) {
  return std::ranges::equal(datagram, kBindingIndication);
}

}  // namespace udtcat::net
