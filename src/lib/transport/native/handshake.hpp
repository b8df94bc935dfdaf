// SPDX-License-Identifier: Apache-2.0
/// UDT4's handshake packets and our extension of them. See docs/spec/udt4.md §4 and §9.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <udtcat/endpoint.hpp>

#include "lib/transport/native/packet.hpp"

namespace udtcat::transport::native {

inline constexpr std::size_t kHandshakeBytes = 48;     // spec: udt4.md §4
inline constexpr std::uint32_t kUdtVersion = 4;        // spec: udt4.md §4
inline constexpr std::uint32_t kStreamType = 1;        // spec: udt4.md §4
inline constexpr std::size_t kMssOverheadBytes = 44;   // spec: udt4.md §2: IPv4, UDP and UDT headers; for IPv6 too
inline constexpr std::size_t kIpv4OverheadBytes = 28;  // spec: RFC 791, RFC 768
inline constexpr std::uint32_t kMinMss = 76;           // guess: less than 32 bytes of payload is no path, but an attack
inline constexpr std::uint32_t kMaxMss = 65'535;       // spec: RFC 791, total length

enum class Request : std::int32_t { induction = 1, conclusion = -1, rendezvous = 0, refused = 1002 };

struct HandshakePacket {
  std::uint32_t version = kUdtVersion;
  std::uint32_t type = kStreamType;
  std::uint32_t initial_sequence = 0;
  std::uint32_t mss = 0;
  std::uint32_t flow_window = 0;  ///< packets
  Request request = Request::induction;
  std::uint32_t socket_id = 0;
  std::uint32_t cookie = 0;
  std::array<std::uint32_t, 4> address{};  ///< of the receiver, as the sender sees it; or a KeyProof
};

/// Behind the 48 bytes, between two ends that know each other as ours.
struct HandshakeExtension {
  std::uint64_t token = 0;  ///< proves that a later packet with it is the same peer's
  /// In a listener's answer: a cookie for the client's next connection; 0: none.
  std::uint32_t next_cookie = 0;
  /// In a conclusion: the client's first packet of data, as of TCP Fast Open. Borrowed.
  std::span<const std::byte> handshake_data{};
};

/// With handshake data of at most so many bytes a conclusion fits every path.
inline constexpr std::size_t kMaxHandshakeDataBytes = 468;  // spec: udt4.md §9: of 576 bytes (RFC 791) in IPv4

/// body   of a handshake packet.  none: too short for one
[[nodiscard]] std::optional<HandshakePacket> decode_handshake(std::span<const std::byte> body);
/// none: nothing of ours follows the 48 bytes
[[nodiscard]] std::optional<HandshakeExtension> decode_extension(std::span<const std::byte> body);

/// A whole handshake packet.
/// additional   of its header: see kMarker
[[nodiscard]] std::vector<std::byte> encode(const HandshakePacket& handshake, std::uint32_t destination,
                                            std::uint32_t additional,
                                            const std::optional<HandshakeExtension>& extension,
                                            std::uint32_t timestamp_us = 0);

/// The address as the system represents it: an input of keyed hashes.
[[nodiscard]] std::vector<std::byte> address_bytes(const Endpoint& address);
/// The address as UDT writes it, each four bytes reversed.
[[nodiscard]] std::array<std::uint32_t, 4> address_words(const Endpoint& address);

// A client of ours marks its induction. libudt's listener echoes the mark, ours answers with kMarkerAnswer: only then
// may an extension follow the 48 bytes, since libudt ignores a longer request.
inline constexpr std::uint32_t kMarker = 0x7544'5463;        // spec: udt4.md §9
inline constexpr std::uint32_t kMarkerAnswer = 0x6354'4475;  // spec: udt4.md §9

}  // namespace udtcat::transport::native
