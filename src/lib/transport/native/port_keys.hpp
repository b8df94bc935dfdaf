/// Keys of the transport, derived from the shared key; none opens a session.
#pragma once

#include <cstdint>

#include <udtcat/key.hpp>
#include <udtcat/result.hpp>

#include "lib/crypto/keyed_hash.hpp"
#include "lib/crypto/secret_bytes.hpp"

namespace udtcat::transport::native {

/// Threads: immutable.
struct PortKeys {
  using Part = crypto::SecretBytes<crypto::KeyedHash::kKeyBytes>;
  Part door;   ///< see Door
  Part reset;  ///< see Resets; another on each host, where the host has a name of its own
  std::uint32_t cookie =
      0;  ///< of TransportOptions::single_use; not 0, and says nothing about the key: docs/spec/rsh.md §1

  /// errors   Errc::cipher_failed
  [[nodiscard]] static Result<PortKeys> derive(const Key& key);
};

}  // namespace udtcat::transport::native
