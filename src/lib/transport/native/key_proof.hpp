// SPDX-License-Identifier: Apache-2.0
/// The proof, in a client's first packets, that it holds the key. See docs/spec/udt4.md §10.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include <udtcat/result.hpp>

#include "lib/crypto/keyed_hash.hpp"
#include "lib/crypto/secret_bytes.hpp"
#include "lib/transport/engine.hpp"
#include "lib/transport/native/handshake.hpp"

namespace udtcat::transport::native {

/// Keys of the transport, derived from those of the ends; none opens a session.
/// Threads: immutable.
struct PortKeys {
  using Part = crypto::SecretBytes<crypto::KeyedHash::kKeyBytes>;
  std::optional<Part> proof;  ///< see KeyProof; none: a connector that does not know the listener's key
  Part reset;                 ///< see StatelessResets; another on each host, where the host has a name of its own
  Part known;                 ///< see PassiveOpen; likewise
  /// Of TransportOptions::single_use; not 0, and says nothing about the key: docs/spec/rsh.md §1.
  std::uint32_t cookie = 0;

  /// errors   Errc::cipher_failed
  [[nodiscard]] static Result<PortKeys> derive(const PortSecrets& secrets);
};

/// A listener checks it before it answers or remembers anything. It buys a place and nothing more: the session asks for
/// its own proof.
/// Threads: unsynchronised.
class KeyProof {
 public:
  using Words = std::array<std::uint32_t, 4>;  ///< takes the place of HandshakePacket::address

  /// errors   Errc::cipher_failed
  [[nodiscard]] static Result<KeyProof> create(std::span<const std::byte, crypto::KeyedHash::kKeyBytes> key);

  /// For everything else that the packet says.  errors   Errc::cipher_failed
  [[nodiscard]] Result<Words> make(const HandshakePacket& handshake, std::uint32_t additional,
                                   const std::optional<HandshakeExtension>& extension);
  [[nodiscard]] bool is_in(const HandshakePacket& handshake, std::uint32_t additional,
                           const std::optional<HandshakeExtension>& extension);

 private:
  explicit KeyProof(crypto::KeyedHash hash) : hash_(std::move(hash)) {}
  [[nodiscard]] Result<crypto::KeyedHash::Hash128> hash_of(const HandshakePacket& handshake, std::uint32_t additional,
                                                           const std::optional<HandshakeExtension>& extension);

  crypto::KeyedHash hash_;
};

}  // namespace udtcat::transport::native
