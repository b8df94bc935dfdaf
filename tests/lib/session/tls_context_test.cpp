// SPDX-License-Identifier: Apache-2.0
#include "lib/session/tls_context.hpp"

#include <array>
#include <memory>

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "lib/session/tls_certificate.hpp"
#include "lib/session/tls_pair.hpp"

namespace udtcat::session {
namespace {

using test::key_of;

constexpr std::byte kRight{0};

// Carries bytes until both machines rest.
void shake_hands(const TlsConnection& one, const TlsConnection& other) {
  const auto carry = [](BIO* from, BIO* to) {
    std::array<char, 4096> piece;
    for (int length = 0; (length = BIO_read(from, piece.data(), piece.size())) > 0;)
      BIO_write(to, piece.data(), length);
  };
  for (int round = 0; round < 4; ++round) {
    SSL_do_handshake(one.tls.get());
    carry(one.output, other.input);
    SSL_do_handshake(other.tls.get());
    carry(other.output, one.input);
  }
}

// A TLS end that knows nothing of us.
TlsConnection foreign_end(SSL_CTX* context) {
  TlsConnection end;
  end.tls.reset(SSL_new(context));
  end.input = BIO_new(BIO_s_mem());
  end.output = BIO_new(BIO_s_mem());
  SSL_set_bio(end.tls.get(), end.input, end.output);
  return end;
}

struct FreeIdentity {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
};

void give_certificate(SSL_CTX* context) {
  const std::unique_ptr<EVP_PKEY, FreeIdentity> key(EVP_EC_gen("P-256"));
  const std::unique_ptr<X509, FreeIdentity> certificate(X509_new());
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key.get());
  ASSERT_GT(X509_sign(certificate.get(), key.get(), EVP_sha256()), 0);
  ASSERT_EQ(SSL_CTX_use_certificate(context, certificate.get()), 1);
  ASSERT_EQ(SSL_CTX_use_PrivateKey(context, key.get()), 1);
}

TEST(TlsConnection, FollowsTheProfile) {
  const auto connector = make_tls_connection(Role::connector, key_of(kRight), {"pipe"});
  const auto listener = make_tls_connection(Role::listener, key_of(kRight), {"pipe"});
  ASSERT_TRUE(connector && listener);
  shake_hands(*connector, *listener);
  for (SSL* tls : {connector->tls.get(), listener->tls.get()}) {
    EXPECT_TRUE(SSL_is_init_finished(tls));
    EXPECT_EQ(SSL_session_reused(tls), 1);
    EXPECT_STREQ(SSL_get_version(tls), "TLSv1.3");
    EXPECT_STREQ(SSL_get_cipher(tls), "TLS_AES_256_GCM_SHA384");
    EXPECT_EQ(SSL_get0_peer_certificate(tls), nullptr);
    // An ephemeral key of the peer: without it a key that leaks later would open what was recorded.
    EVP_PKEY* ephemeral = nullptr;
    ASSERT_EQ(SSL_get_peer_tmp_key(tls, &ephemeral), 1);
    EXPECT_EQ(EVP_PKEY_is_a(ephemeral, "X25519"), 1);
    EVP_PKEY_free(ephemeral);
  }
}

TEST(TlsConnection, TakesNoCertificateInPlaceOfTheKey) {
  const TlsPointer<SSL_CTX> context(SSL_CTX_new(TLS_server_method()));
  give_certificate(context.get());
  const TlsConnection stranger = foreign_end(context.get());
  SSL_set_accept_state(stranger.tls.get());
  const auto connector = make_tls_connection(Role::connector, key_of(kRight), {"pipe"});
  ASSERT_TRUE(connector);
  shake_hands(*connector, stranger);
  ERR_clear_error();
  EXPECT_FALSE(SSL_is_init_finished(connector->tls.get()));
  EXPECT_EQ(SSL_get_verify_result(connector->tls.get()), X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT);
}

/// A listener with a key pair, and a connector that wants to meet its key, whatever else comes with it.
class TlsCertificates : public testing::Test {
 protected:
  TlsCertificates() {
    SSL_CTX_use_certificate(context.get(), own.certificate.get());
    SSL_CTX_use_PrivateKey(context.get(), own.key.get());
  }
  [[nodiscard]] bool convince_a_connector() const {
    const Credentials wants = PairCredentials{listener, one_known_peer({"it", listener->public_key()})};
    const auto connector = make_tls_connection(Role::connector, wants, {"pipe"});
    const TlsConnection stranger = foreign_end(context.get());
    SSL_set_accept_state(stranger.tls.get());
    shake_hands(*connector, stranger);
    ERR_clear_error();
    return SSL_is_init_finished(connector->tls.get()) == 1 && has_proved_key(*connector);
  }
  const std::shared_ptr<const KeyPair> listener = std::make_shared<const KeyPair>(KeyPair::generate().value());
  const LocalCertificate own = make_certificate(*listener).value();
  const TlsPointer<SSL_CTX> context{SSL_CTX_new(TLS_server_method())};
};

TEST_F(TlsCertificates, AreAcceptedAlone) { EXPECT_TRUE(convince_a_connector()); }

/// Proves: handshake.one-small-certificate
TEST_F(TlsCertificates, AreRefusedInAChain) {
  const auto more = make_certificate(KeyPair::generate().value()).value();
  ASSERT_EQ(SSL_CTX_add1_chain_cert(context.get(), more.certificate.get()), 1);
  EXPECT_FALSE(convince_a_connector());
}

/// Proves: handshake.one-small-certificate
TEST_F(TlsCertificates, AreRefusedWhereTheyAreLarge) {
  const std::string word(60, 'x');
  for (const int words : {11, 12}) {
    const Certificate large(X509_dup(own.certificate.get()));
    for (int i = 0; i < words; ++i)
      X509_NAME_add_entry_by_txt(X509_get_subject_name(large.get()), "O", MBSTRING_ASC,
                                 crypto::uchars(std::as_bytes(std::span(word)).data()), 60, -1, 0);
    ASSERT_GT(X509_sign(large.get(), own.key.get(), nullptr), 0);
    ASSERT_EQ(SSL_CTX_use_certificate(context.get(), large.get()), 1);
    const bool fits = i2d_X509(large.get(), nullptr) <= 1024;
    EXPECT_EQ(fits, words == 11) << "so that both sides of the limit are seen";
    EXPECT_EQ(convince_a_connector(), fits);
  }
}

TEST(TlsConnection, RefusesAClientWithoutTheKey) {
  const TlsPointer<SSL_CTX> context(SSL_CTX_new(TLS_client_method()));
  const TlsConnection stranger = foreign_end(context.get());
  SSL_set_connect_state(stranger.tls.get());
  const auto listener = make_tls_connection(Role::listener, key_of(kRight), {"pipe"});
  ASSERT_TRUE(listener);
  shake_hands(stranger, *listener);
  ERR_clear_error();
  EXPECT_FALSE(SSL_is_init_finished(listener->tls.get()));
  EXPECT_FALSE(SSL_is_init_finished(stranger.tls.get()));
}

TEST(TlsConnection, SpeaksNoOlderTls) {
  const TlsPointer<SSL_CTX> context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_max_proto_version(context.get(), TLS1_2_VERSION);
  const TlsConnection stranger = foreign_end(context.get());
  SSL_set_connect_state(stranger.tls.get());
  const auto listener = make_tls_connection(Role::listener, key_of(kRight), {"pipe"});
  ASSERT_TRUE(listener);
  shake_hands(stranger, *listener);
  ERR_clear_error();
  EXPECT_FALSE(SSL_is_init_finished(listener->tls.get()));
}

Error error_after(int reason, Role role) {
  ERR_clear_error();
  ERR_raise(ERR_LIB_SSL, reason);
  Error error = take_tls_error(role, TlsConnection{});
  EXPECT_EQ(ERR_peek_error(), 0U);
  return error;
}

Errc after_alert(int alert, Role role = Role::connector) {
  return error_after(SSL_AD_REASON_OFFSET + alert, role).code;
}

TEST(TlsError, ReadsARefusingAlertAsAWrongKeyAtTheConnector) {
  for (const int alert : {SSL_AD_HANDSHAKE_FAILURE, SSL_AD_ILLEGAL_PARAMETER, SSL_AD_ACCESS_DENIED,
                          SSL_AD_DECRYPT_ERROR, SSL_AD_UNKNOWN_PSK_IDENTITY}) {
    EXPECT_EQ(after_alert(alert), Errc::authentication_failed) << alert;
    EXPECT_EQ(after_alert(alert, Role::listener), Errc::protocol_violated) << alert;
  }
}

TEST(TlsError, ReadsOtherAlertsAsViolations) {
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
  EXPECT_NE(error_after(SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM, Role::listener).message().find("it may have a key pair"),
            std::string::npos);
}

}  // namespace
}  // namespace udtcat::session
