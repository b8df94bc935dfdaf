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

/// Keys of the transport, derived from those of the two ends; a session has keys of its own.
/// Threads: immutable.
struct PortKeys {
  using Part = crypto::SecretBytes<crypto::KeyedHash::kKeyBytes>;
  std::optional<Part> proof;  ///< see KeyProof; none: a connector that does not know the listener's key
  Part reset;                 ///< see StatelessResets; each host with a machine ID has its own
  Part known;                 ///< see PassiveOpen; likewise
  /// For TransportOptions::single_use (docs/spec/rsh.md §1). Never 0; the key cannot be found from it.
  std::uint32_t cookie = 0;

  /// errors   Errc::cipher_failed
  [[nodiscard]] static Result<PortKeys> derive(const PortSecrets& secrets);
};

/// A listener checks the proof before it answers a client, or keeps anything of it. The proof gives a client room, and
/// no more: the session authenticates both ends.
/// Threads: unsynchronised.
class KeyProof {
 public:
  using Words = std::array<std::uint32_t, 4>;  ///< in HandshakePacket::address

  /// errors   Errc::cipher_failed
  [[nodiscard]] static Result<KeyProof> create(std::span<const std::byte, crypto::KeyedHash::kKeyBytes> key);

  /// Of the rest of the packet.  errors   Errc::cipher_failed
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
