// SPDX-License-Identifier: Apache-2.0
/// From the TLS exporter to one key and IV per direction × lane × epoch. See docs/spec/record.md §4.
#pragma once

#include <cstdint>

#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

#include "lib/crypto/aead.hpp"
#include "lib/crypto/secret_bytes.hpp"

namespace udtcat::session {

enum class Role : std::uint8_t { connector = 0, listener = 1 };
/// A direction of bytes: away from the connector, or away from the listener.
enum class Direction : std::uint8_t { from_connector = 0, from_listener = 1 };

[[nodiscard]] constexpr Role peer_of(Role role) { return role == Role::connector ? Role::listener : Role::connector; }
[[nodiscard]] constexpr Direction direction_from(Role role) { return static_cast<Direction>(role); }

/// The chain of one lane in one direction. ratchet() forgets: a later secret opens no earlier epoch.
/// Threads: unsynchronised: one per lane.
class LaneSecret {
 public:
  explicit LaneSecret(crypto::Secret32 secret) : secret_(std::move(secret)) {}

  struct Keys {
    crypto::Secret32 key;  ///< the first Aead::key_bytes(cipher) bytes are used
    crypto::SecretBytes<crypto::kNonceBytes> iv;
  };
  /// errors: Errc::cipher_failed
  [[nodiscard]] Result<Keys> keys() const;
  /// Moves to the next epoch.  errors: Errc::cipher_failed
  [[nodiscard]] Status ratchet();

 private:
  crypto::Secret32 secret_;
};

/// Threads: immutable after construction.
class KeySchedule {
 public:
  static constexpr std::size_t kExporterBytes = 64;  // spec: handshake.md §5

  /// errors: Errc::cipher_failed
  [[nodiscard]] static Result<KeySchedule> from_exporter(const crypto::SecretBytes<kExporterBytes>& exporter);
  /// Epoch 0.  errors: Errc::cipher_failed
  [[nodiscard]] Result<LaneSecret> lane_secret(Direction direction, std::uint16_t lane) const;
  /// errors: Errc::cipher_failed
  [[nodiscard]] Result<crypto::Secret32> header_key(Direction direction) const;
  /// Of priority datagrams, epoch 0.  errors: Errc::cipher_failed
  [[nodiscard]] Result<LaneSecret> priority_secret(Direction direction) const;
  /// errors: Errc::cipher_failed
  [[nodiscard]] Result<crypto::Secret32> priority_header_key(Direction direction) const;
  /// The key by which a channel proves that it belongs to this session (handshake.md §8).  errors: Errc::cipher_failed
  [[nodiscard]] Result<crypto::Secret32> flow_key() const;

 private:
  explicit KeySchedule(crypto::Secret32 master) : master_(std::move(master)) {}
  crypto::Secret32 master_;
};

}  // namespace udtcat::session
