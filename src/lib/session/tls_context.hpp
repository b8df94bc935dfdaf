/// OpenSSL's TLS, set up by the profile of docs/spec/handshake.md §3 and nothing else, and its errors as ours.
#pragma once

#include <memory>

#include <openssl/ssl.h>

#include <udtcat/key.hpp>
#include <udtcat/result.hpp>

#include "lib/session/key_schedule.hpp"

namespace udtcat::session {

struct TlsFree {
  void operator()(SSL* tls) const noexcept { SSL_free(tls); }
  void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  void operator()(SSL_SESSION* session) const noexcept { SSL_SESSION_free(session); }
};
template <typename Object>
using TlsOwner = std::unique_ptr<Object, TlsFree>;

/// One connection over two memory BIOs, which it owns: `input` for the peer's bytes, `output` for ours. The key is
/// inside the connection and is erased with it.
struct TlsConnection {
  TlsOwner<SSL> tls;
  BIO* input = nullptr;   // owned by tls
  BIO* output = nullptr;  // owned by tls
};

/// errors: Errc::cipher_failed
[[nodiscard]] Result<TlsConnection> make_tls_connection(Role role, const Key& key);

/// Why the last TLS call of this thread failed; empties OpenSSL's error queue.
/// gives: Errc::authentication_failed or Errc::protocol_violated, see docs/spec/handshake.md §3
[[nodiscard]] Error take_tls_error(Role role);

}  // namespace udtcat::session
