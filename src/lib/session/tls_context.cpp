#include "lib/session/tls_context.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "lib/crypto/openssl.hpp"
#include "lib/session/tls_handshake.hpp"

namespace udtcat::session {

namespace {

// spec: handshake.md §3
constexpr const char* kCipherSuite = "TLS_AES_256_GCM_SHA384";
constexpr std::array<unsigned char, 2> kCipherSuiteNumber{0x13, 0x02};  // spec: RFC 8446 appendix B.4
constexpr const char* kGroups = "X25519:P-256";
constexpr std::array<unsigned char, 7> kIdentity{'u', 'd', 't', 'c', 'a', 't', '1'};

void free_psk(void*, void* psk, CRYPTO_EX_DATA*, int, long, void*) { SSL_SESSION_free(static_cast<SSL_SESSION*>(psk)); }

// The PSK is kept with its SSL, so that the callbacks need nothing else to be alive.
int psk_index() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, free_psk);
  return index;
}

// A reference for OpenSSL, which gives it back itself.
SSL_SESSION* share_psk(SSL* tls) {
  auto* psk = static_cast<SSL_SESSION*>(SSL_get_ex_data(tls, psk_index()));
  return psk != nullptr && SSL_SESSION_up_ref(psk) == 1 ? psk : nullptr;
}

int offer_psk(SSL* tls, const EVP_MD*, const unsigned char** identity, std::size_t* identity_bytes, SSL_SESSION** psk) {
  *identity = kIdentity.data();
  *identity_bytes = kIdentity.size();
  *psk = share_psk(tls);
  return *psk != nullptr ? 1 : 0;
}

int find_psk(SSL* tls, const unsigned char* identity, std::size_t identity_bytes, SSL_SESSION** psk) {
  const bool ours = identity_bytes == kIdentity.size() && std::equal(kIdentity.begin(), kIdentity.end(), identity);
  // An unknown identity is not an error to OpenSSL but a peer without PSK, which then fails for want of a certificate.
  *psk = ours ? share_psk(tls) : nullptr;
  return !ours || *psk != nullptr ? 1 : 0;
}

TlsOwner<SSL_SESSION> make_psk(SSL* tls, const Key& key) {
  TlsOwner<SSL_SESSION> psk(SSL_SESSION_new());
  const SSL_CIPHER* cipher = SSL_CIPHER_find(tls, kCipherSuiteNumber.data());
  // SAFETY: unsigned char may alias anything, std::byte included.
  const auto* bytes = reinterpret_cast<const unsigned char*>(key.bytes().data());
  if (!psk || cipher == nullptr || SSL_SESSION_set1_master_key(psk.get(), bytes, Key::kBytes) != 1 ||
      SSL_SESSION_set_cipher(psk.get(), cipher) != 1 ||
      SSL_SESSION_set_protocol_version(psk.get(), TLS1_3_VERSION) != 1 ||
      SSL_SESSION_set_max_early_data(psk.get(), kMaxEarlyDataBytes) != 1)
    return nullptr;
  return psk;
}

TlsOwner<SSL_CTX> make_context() {
  TlsOwner<SSL_CTX> context(SSL_CTX_new(TLS_method()));
  if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_max_proto_version(context.get(), TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(context.get(), kCipherSuite) != 1 ||
      SSL_CTX_set1_groups_list(context.get(), kGroups) != 1 || SSL_CTX_set_num_tickets(context.get(), 0) != 1 ||
      SSL_CTX_set_max_early_data(context.get(), kMaxEarlyDataBytes) != 1 ||
      SSL_CTX_set_recv_max_early_data(context.get(), kMaxEarlyDataBytes) != 1)
    return nullptr;
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_clear_options(context.get(), SSL_OP_ENABLE_MIDDLEBOX_COMPAT);
  SSL_CTX_set_psk_use_session_callback(context.get(), offer_psk);
  SSL_CTX_set_psk_find_session_callback(context.get(), find_psk);
  return context;
}

bool attach_bios(TlsConnection& connection) {
  BIO* input = BIO_new(BIO_s_mem());
  BIO* output = BIO_new(BIO_s_mem());
  if (input == nullptr || output == nullptr) {
    BIO_free(input);
    BIO_free(output);
    return false;
  }
  SSL_set_bio(connection.tls.get(), input, output);
  connection.input = input;
  connection.output = output;
  return true;
}

// The alerts of a listener to a connector whose key it cannot use.
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

Result<TlsConnection> make_tls_connection(Role role, const Key& key) {
  crypto::clear_openssl_errors();
  TlsConnection connection;
  const TlsOwner<SSL_CTX> context = make_context();
  if (context) connection.tls.reset(SSL_new(context.get()));
  if (!connection.tls || !attach_bios(connection)) return crypto::openssl_failed("set up TLS");
  TlsOwner<SSL_SESSION> psk = make_psk(connection.tls.get(), key);
  if (!psk || SSL_set_ex_data(connection.tls.get(), psk_index(), psk.get()) != 1)
    return crypto::openssl_failed("set up TLS");
  std::ignore = psk.release();  // the SSL owns it now
  if (role == Role::listener) {
    SSL_set_accept_state(connection.tls.get());
    return connection;
  }
  SSL_set_connect_state(connection.tls.get());
  // Nothing but the PSK convinces a connector: there is no authority that a certificate could come from.
  SSL_set_verify(connection.tls.get(), SSL_VERIFY_PEER, nullptr);
  return connection;
}

Error take_tls_error(Role role) {
  const bool wrong_key = keys_differ(crypto::peek_openssl_reason(), role);
  std::string text = crypto::take_openssl_text();
  if (wrong_key) return {Errc::authentication_failed, "TLS handshake", {}};
  return {Errc::protocol_violated, "TLS handshake", std::move(text)};
}

}  // namespace udtcat::session
