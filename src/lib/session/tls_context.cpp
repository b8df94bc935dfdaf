// SPDX-License-Identifier: Apache-2.0
#include "lib/session/tls_context.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "lib/crypto/openssl.hpp"
#include "lib/session/tls_certificate.hpp"
#include "lib/session/tls_handshake.hpp"

namespace udtcat::session {

namespace {

// spec: handshake.md §3
constexpr const char* kCipherSuite = "TLS_AES_256_GCM_SHA384";
constexpr std::array<unsigned char, 2> kCipherSuiteNumber{0x13, 0x02};  // spec: RFC 8446 appendix B.4
constexpr const char* kGroups = "X25519:P-256";
constexpr const char* kSignatures = "ed25519";
constexpr std::array<unsigned char, 7> kIdentity{'u', 'd', 't', 'c', 'a', 't', '1'};
constexpr long kMaxCertificateListBytes = 1024;  // spec: handshake.md §3

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

TlsPointer<SSL_SESSION> make_psk(SSL* tls, const Key& key) {
  TlsPointer<SSL_SESSION> psk(SSL_SESSION_new());
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

/// The common part of both kinds.  returns  null where OpenSSL failed, as those below
TlsPointer<SSL_CTX> make_context() {
  TlsPointer<SSL_CTX> context(SSL_CTX_new(TLS_method()));
  if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_max_proto_version(context.get(), TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(context.get(), kCipherSuite) != 1 ||
      SSL_CTX_set1_groups_list(context.get(), kGroups) != 1 || SSL_CTX_set_num_tickets(context.get(), 0) != 1 ||
      SSL_CTX_set_recv_max_early_data(context.get(), kMaxEarlyDataBytes) != 1)
    return nullptr;
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_clear_options(context.get(), SSL_OP_ENABLE_MIDDLEBOX_COMPAT);
  return context;
}

TlsPointer<SSL_CTX> make_context_for_shared_key(Role role) {
  auto context = make_context();
  if (!context || SSL_CTX_set_max_early_data(context.get(), kMaxEarlyDataBytes) != 1) return nullptr;
  SSL_CTX_set_psk_use_session_callback(context.get(), offer_psk);
  SSL_CTX_set_psk_find_session_callback(context.get(), find_psk);
  // Nothing but the PSK convinces a connector: there is no authority that a certificate could come from.
  if (role == Role::connector) SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  return context;
}

/// Replaces OpenSSL's check: only the key counts, no name, date or authority.
int check_peer(X509_STORE_CTX* chain, void* argument) {
  PeerCheck& check = *static_cast<PeerCheck*>(argument);
  const X509* certificate = X509_STORE_CTX_get0_cert(chain);
  const bool alone = sk_X509_num(X509_STORE_CTX_get0_untrusted(chain)) == 1;
  const auto key = certificate != nullptr && alone ? key_of(*certificate) : std::nullopt;
  X509_STORE_CTX_set_error(chain, X509_V_ERR_APPLICATION_VERIFICATION);
  if (!key) return 0;
  auto name = check.pair.peers->recognise(*key, check.applications.front());
  for (std::size_t i = 1; !name && i < check.applications.size(); ++i)
    if (auto known = check.pair.peers->recognise(*key, check.applications[i])) name = std::move(known);
  if (!name) {
    // The alert for a key that is known but not allowed for this purpose, or now.
    if (name.error().code == Errc::parameters_refused) X509_STORE_CTX_set_error(chain, X509_V_ERR_INVALID_PURPOSE);
    check.refused = std::move(name.error());
    return 0;
  }
  check.recognised = PeerIdentity{std::move(*name), *key};
  X509_STORE_CTX_set_error(chain, X509_V_OK);
  return 1;
}

/// A connector offers a PSK exactly if it has a shared key.
int note_shared_key(SSL* tls, int*, void* argument) {
  const unsigned char* offered = nullptr;
  std::size_t offered_bytes = 0;
  static_cast<PeerCheck*>(argument)->meets_shared_key =
      SSL_client_hello_get0_ext(tls, TLSEXT_TYPE_psk, &offered, &offered_bytes) == 1;
  return SSL_CLIENT_HELLO_SUCCESS;  // it goes on, so that the connector sees what this end has
}

TlsPointer<SSL_CTX> make_context_for_key_pair(PeerCheck& check) {
  auto context = make_context();
  const auto own = make_certificate(*check.pair.own);
  if (!context || !own || SSL_CTX_set1_sigalgs_list(context.get(), kSignatures) != 1 ||
      SSL_CTX_set1_client_sigalgs_list(context.get(), kSignatures) != 1 ||
      SSL_CTX_use_certificate(context.get(), own->certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context.get(), own->key.get()) != 1)
    return nullptr;
  SSL_CTX_set_max_cert_list(context.get(), kMaxCertificateListBytes);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_cert_verify_callback(context.get(), check_peer, &check);
  SSL_CTX_set_client_hello_cb(context.get(), note_shared_key, &check);
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

// The alerts of an end that cannot use the key of the other.
bool is_refusing_alert(int alert) {
  switch (alert) {
    case SSL_AD_HANDSHAKE_FAILURE:
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_ILLEGAL_PARAMETER:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_ACCESS_DENIED:
    case SSL_AD_DECRYPT_ERROR:
    case SSL_AD_UNKNOWN_PSK_IDENTITY:
    case SSL_AD_CERTIFICATE_REQUIRED:
      return true;
    default:
      return false;
  }
}

bool keys_differ(int reason, Role role, bool has_pair) {
  // OpenSSL's reasons from 1000 on are the peer's alerts. A connector has none about a listener's shared key.
  if (reason >= SSL_AD_REASON_OFFSET)
    return (role == Role::connector || has_pair) && is_refusing_alert(reason - SSL_AD_REASON_OFFSET);
  switch (reason) {
    case SSL_R_BINDER_DOES_NOT_VERIFY:             // listener: another key
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:    // listener: no PSK that it knows, so OpenSSL looks for a certificate
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:  // listener: a connector without a key pair
    case SSL_R_CERTIFICATE_VERIFY_FAILED:          // a certificate in place of the key, or another than the known
    case SSL_R_BAD_SIGNATURE:                      // a known certificate without its key
      return true;
    default:
      return false;
  }
}

constexpr const char* kMeetsSharedKey =
    "the connector has a shared key, this listener a key pair; both ends need the same kind";

std::string why_refused(const PeerCheck& check, int reason) {
  const std::string own = check.pair.own->public_key().to_string();
  if (reason == SSL_AD_REASON_OFFSET + SSL_AD_UNSUPPORTED_CERTIFICATE)
    return "the listener knows our key, " + own + ", but not for " + check.applications.front() +
           ", or not at this time (valid-after=, valid-before=)";
  return "the listener does not know our key, " + own + ": its --peers file needs a line with it";
}

/// The text for people; empty: nothing is known beyond the code.
std::string cause_of(int reason, Role role, const PeerCheck* check) {
  if (check == nullptr && reason == SSL_R_CERTIFICATE_VERIFY_FAILED)
    return "the listener has a key pair, this end a shared key; both ends need the same kind: with --peer "
           "PUBLIC-KEY, or a line for the listener in its peers file, this end uses its key pair";
  if (check == nullptr && reason == SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM)
    return "the connector shows no shared key; it may have a key pair, and both ends need the same kind: --peers FILE "
           "uses this end's key pair";
  if (check == nullptr) return {};
  if (check->meets_shared_key) return kMeetsSharedKey;
  const bool alert = reason >= SSL_AD_REASON_OFFSET;
  if (role == Role::listener)
    return alert ? "the connector does not take this listener's key" : "the connector shows no key pair of its own";
  if (alert && check->recognised) return why_refused(*check, reason);
  return "the listener shows no key pair; it may have a shared key, and both ends need the same kind: -k FILE names "
         "this end's shared key";
}

bool attach_psk(SSL* tls, const Key& key) {
  TlsPointer<SSL_SESSION> psk = make_psk(tls, key);
  if (!psk || SSL_set_ex_data(tls, psk_index(), psk.get()) != 1) return false;
  std::ignore = psk.release();  // the SSL owns it now
  return true;
}

}  // namespace

Result<TlsConnection> make_tls_connection(Role role, const Credentials& credentials,
                                          std::vector<std::string> applications) {
  crypto::clear_openssl_errors();
  TlsConnection connection;
  if (credentials.pair() != nullptr)
    connection.check.reset(new PeerCheck{*credentials.pair(), std::move(applications)});
  const auto context =
      connection.check ? make_context_for_key_pair(*connection.check) : make_context_for_shared_key(role);
  if (context) connection.tls.reset(SSL_new(context.get()));
  SSL* const tls = connection.tls.get();
  if (tls == nullptr || !attach_bios(connection)) return crypto::openssl_failed("set up TLS");
  if (credentials.shared() != nullptr && !attach_psk(tls, *credentials.shared()))
    return crypto::openssl_failed("set up TLS");
  if (role == Role::listener)
    SSL_set_accept_state(tls);
  else
    SSL_set_connect_state(tls);
  return connection;
}

bool has_proved_key(const TlsConnection& connection) {
  // OpenSSL calls a session reused exactly if the PSK was.
  const bool reused = SSL_session_reused(connection.tls.get()) == 1;
  return connection.check ? connection.check->recognised.has_value() && !reused : reused;
}

Error why_broken(Error broken, const TlsConnection& connection) {
  if (!connection.check || !connection.check->meets_shared_key) return broken;
  return {Errc::authentication_failed, "TLS handshake", kMeetsSharedKey};
}

Error take_tls_error(Role role, const TlsConnection& connection) {
  const int reason = crypto::peek_openssl_reason();
  std::string text = crypto::take_openssl_text();
  const PeerCheck* check = connection.check.get();
  if (check != nullptr && check->refused) return *check->refused;
  if (!keys_differ(reason, role, check != nullptr)) return {Errc::protocol_violated, "TLS handshake", std::move(text)};
  return {Errc::authentication_failed, "TLS handshake", cause_of(reason, role, check)};
}

}  // namespace udtcat::session
