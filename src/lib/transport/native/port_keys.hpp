/// Keys of the transport, derived from the shared key; none opens a session.
#pragma once

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

  /// errors   Errc::cipher_failed
  [[nodiscard]] static Result<PortKeys> derive(const Key& key);
};

}  // namespace udtcat::transport::native
