// SPDX-License-Identifier: Apache-2.0
#include "lib/session/tls_certificate.hpp"

#include <array>

namespace udtcat::session {

namespace {

// spec: handshake.md §3
constexpr long kSerial = 1;
constexpr const char* kFrom = "19700101000000Z";
constexpr const char* kUntil = "99991231235959Z";  // spec: RFC 5280 §4.1.2.5: no end

bool fill(X509* certificate, EVP_PKEY* key) {
  return X509_set_version(certificate, X509_VERSION_3) == 1 &&
         ASN1_INTEGER_set(X509_get_serialNumber(certificate), kSerial) == 1 &&
         ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), kFrom) == 1 &&
         ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), kUntil) == 1 &&
         X509_set_pubkey(certificate, key) == 1;
}

}  // namespace

Result<LocalCertificate> make_certificate(const KeyPair& pair) {
  LocalCertificate own;
  own.key.reset(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, crypto::uchars(pair.secret().data()),
                                             pair.secret().size()));
  own.certificate.reset(X509_new());
  // Ed25519 has a hash of its own, and draws no random bytes.
  if (!own.key || !own.certificate || !fill(own.certificate.get(), own.key.get()) ||
      X509_sign(own.certificate.get(), own.key.get(), nullptr) == 0)
    return crypto::openssl_failed("make a certificate");
  return own;
}

std::optional<PublicKey> key_of(const X509& certificate) {
  const EVP_PKEY* key = X509_get0_pubkey(&certificate);
  std::array<std::byte, PublicKey::kBytes> bytes{};
  std::size_t length = bytes.size();
  if (key == nullptr || EVP_PKEY_get_id(key) != EVP_PKEY_ED25519 ||
      EVP_PKEY_get_raw_public_key(key, crypto::uchars(bytes.data()), &length) != 1)
    return std::nullopt;
  return PublicKey(bytes);
}

}  // namespace udtcat::session
