#include "lib/session/tls_error.hpp"

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

namespace udtcat::session {
namespace {

Error error_after(int reason, Role role) {
  ERR_clear_error();
  ERR_raise(ERR_LIB_SSL, reason);
  Error error = take_tls_error(role);
  EXPECT_EQ(ERR_peek_error(), 0U);
  return error;
}

Errc after_alert(int alert, Role role = Role::connector) {
  return error_after(SSL_AD_REASON_OFFSET + alert, role).code;
}

TEST(TlsError, TakesARefusingAlertForAWrongKeyAtTheConnector) {
  for (const int alert : {SSL_AD_HANDSHAKE_FAILURE, SSL_AD_ILLEGAL_PARAMETER, SSL_AD_ACCESS_DENIED,
                          SSL_AD_DECRYPT_ERROR, SSL_AD_UNKNOWN_PSK_IDENTITY}) {
    EXPECT_EQ(after_alert(alert), Errc::authentication_failed) << alert;
    EXPECT_EQ(after_alert(alert, Role::listener), Errc::protocol_violated) << alert;
  }
}

TEST(TlsError, TakesOtherAlertsForViolations) {
  for (const int alert :
       {SSL_AD_UNEXPECTED_MESSAGE, SSL_AD_BAD_RECORD_MAC, SSL_AD_PROTOCOL_VERSION, SSL_AD_INTERNAL_ERROR})
    EXPECT_EQ(after_alert(alert), Errc::protocol_violated) << alert;
}

TEST(TlsError, KnowsAWrongKeyFromItsOwnChecks) {
  EXPECT_EQ(error_after(SSL_R_BINDER_DOES_NOT_VERIFY, Role::listener).code, Errc::authentication_failed);
  EXPECT_EQ(error_after(SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM, Role::listener).code, Errc::authentication_failed);
  EXPECT_EQ(error_after(SSL_R_CERTIFICATE_VERIFY_FAILED, Role::connector).code, Errc::authentication_failed);
}

TEST(TlsError, SaysWhatOpensslSays) {
  OPENSSL_init_ssl(OPENSSL_INIT_LOAD_SSL_STRINGS, nullptr);  // as the first connection would
  EXPECT_EQ(error_after(SSL_R_LENGTH_MISMATCH, Role::listener).message(), "TLS handshake: length mismatch");
  EXPECT_EQ(error_after(SSL_R_BINDER_DOES_NOT_VERIFY, Role::listener).message(),
            "TLS handshake: the peer does not hold our key");
}

}  // namespace
}  // namespace udtcat::session
