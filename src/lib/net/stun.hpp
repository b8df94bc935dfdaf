// SPDX-License-Identifier: Apache-2.0
/// Messages of STUN (RFC 8489): Binding, and what of it others send.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <udtcat/endpoint.hpp>

namespace udtcat::net {

/// Ours have zeros in the second 4 bytes: there our transport has the number of a connection, and 0 is none's, so that
/// an answer costs the packets of connections nothing and is never taken for one of them.
using StunTransactionId = std::array<std::byte, 12>;

/// One message of the method Binding.
struct StunMessage {
  enum class Type : std::uint16_t {
    request = 0x0001,     // spec: RFC 8489 §5 and §18.2
    indication = 0x0011,  // spec: likewise
    success = 0x0101,     // spec: likewise
    error = 0x0111,       // spec: likewise
  };
  struct ErrorCode {
    std::uint16_t code = 0;  ///< 300 to 699
    std::string reason;
    friend bool operator==(const ErrorCode&, const ErrorCode&) = default;
  };
  static constexpr std::uint16_t kBadRequest = 400;        // spec: RFC 8489 §14.8
  static constexpr std::uint16_t kUnknownAttribute = 420;  // spec: RFC 8489 §14.8
  static constexpr std::uint16_t kStaleNonce = 438;        // spec: RFC 8489 §14.8

  Type type = Type::request;
  StunTransactionId transaction{};
  std::optional<Endpoint> mapped_address{};  ///< XOR-MAPPED-ADDRESS; decoded also MAPPED-ADDRESS, of old servers
  std::optional<std::string> username{};
  std::optional<std::string> nonce{};
  std::optional<ErrorCode> error{};
  /// Decoded: attributes that must be understood, and are not (RFC 8489 §6.3). Encoded: UNKNOWN-ATTRIBUTES.
  std::vector<std::uint16_t> unknown{};
  friend bool operator==(const StunMessage&, const StunMessage&) = default;
};

/// Whether it is STUN by its header: the type's first bits, the length, the magic cookie (RFC 8489 §5).
[[nodiscard]] bool is_stun(std::span<const std::byte> datagram);

/// Total: any input gives a value or none. None: it is not STUN, not Binding, or malformed, its FINGERPRINT included.
/// Integrity is not checked: what a message says is believed by its transaction id or its USERNAME alone.
[[nodiscard]] std::optional<StunMessage> decode_stun(std::span<const std::byte> datagram);
/// least_bytes   PADDING (RFC 5780 §7.6) fills it up to so many, where it is shorter
[[nodiscard]] std::vector<std::byte> encode(const StunMessage& message, std::size_t least_bytes = 0);

/// Wants no answer and changes nothing at its receiver (RFC 8445 §11). Its transaction id is 0, so that our transport
/// takes it for a packet to no connection; an indication's answers nothing that could be forged.
[[nodiscard]] std::vector<std::byte> binding_indication();
[[nodiscard]] bool is_binding_indication(std::span<const std::byte> datagram);

}  // namespace udtcat::net
