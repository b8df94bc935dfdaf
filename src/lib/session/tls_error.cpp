#include "lib/session/tls_error.hpp"

#include <openssl/ssl.h>

#include "lib/crypto/openssl_error.hpp"

namespace udtcat::session {

namespace {

// What a listener sends to a connector that cannot use its key.
bool is_refusing_alert(int alert) {
  switch (alert) {
    case SSL_AD_HANDSHAKE_FAILURE:
    case SSL_AD_ILLEGAL_PARAMETER:
    case SSL_AD_ACCESS_DENIED:
    case SSL_AD_DECRYPT_ERROR:
    case SSL_AD_UNKNOWN_PSK_IDENTITY:
      return true;
    default:
      return false;
  }
}

bool keys_differ(int reason, Role role) {
  // OpenSSL's reasons from 1000 on are the peer's alerts.
  if (reason >= SSL_AD_REASON_OFFSET)
    return role == Role::connector && is_refusing_alert(reason - SSL_AD_REASON_OFFSET);
  switch (reason) {
    case SSL_R_BINDER_DOES_NOT_VERIFY:           // listener: another key
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:  // listener: no PSK that it knows, so OpenSSL looks for a certificate
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
      return true;  // connector: a certificate in place of the key
    default:
      return false;
  }
}

}  // namespace

Error take_tls_error(Role role) {
  const bool wrong_key = keys_differ(crypto::peek_openssl_reason(), role);
  std::string text = crypto::take_openssl_text();
  if (wrong_key) return {Errc::authentication_failed, "TLS handshake", {}};
  return {Errc::protocol_violated, "TLS handshake", std::move(text)};
}

}  // namespace udtcat::session
