// SPDX-License-Identifier: Apache-2.0
/// The certificate in which TLS carries a public key, and that says nothing else. See docs/spec/handshake.md §3.
#pragma once

#include <memory>
#include <optional>

#include <openssl/x509.h>

#include <udtcat/key_pair.hpp>
#include <udtcat/result.hpp>

#include "lib/crypto/openssl.hpp"

namespace udtcat::session {

using Certificate = std::unique_ptr<X509, crypto::Deleter<X509_free>>;

/// An end shows the same bytes each time.
struct LocalCertificate {
  crypto::EvpKey key;
  Certificate certificate;
};

/// errors: Errc::cipher_failed
[[nodiscard]] Result<LocalCertificate> make_certificate(const KeyPair& pair);

/// The Ed25519 key of a certificate, whatever else it says; none where it has another kind of key.
[[nodiscard]] std::optional<PublicKey> key_of(const X509& certificate);

}  // namespace udtcat::session
