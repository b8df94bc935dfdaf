// SPDX-License-Identifier: Apache-2.0
/// OpenSSL's TLS, set up by the profile of docs/spec/handshake.md §3 and nothing else, and its errors as ours.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <openssl/ssl.h>

#include <udtcat/credentials.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

#include "lib/session/key_schedule.hpp"

namespace udtcat::session {

struct TlsDeleter {
  void operator()(SSL* tls) const noexcept { SSL_free(tls); }
  void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  void operator()(SSL_SESSION* session) const noexcept { SSL_SESSION_free(session); }
};
template <typename Object>
using TlsPointer = std::unique_ptr<Object, TlsDeleter>;

/// The check of the peer's key pair in one connection: the peers allowed, and the one that has come.
struct PeerCheck {
  PairCredentials pair;
  std::vector<std::string> applications;     ///< a peer that may speak one of them will do; the first is told of
  std::optional<PeerIdentity> recognised{};  ///< its certificate came; TLS has yet to see that it holds the key
  std::optional<Error> refused{};            ///< the reason why it will not do
  bool meets_shared_key = false;             ///< the connector has one, in the place of a pair
};

/// One connection over two memory BIOs, which it owns: `input` for the peer's bytes, `output` for ours. The key is
/// inside the connection and is erased with it.
struct TlsConnection {
  std::unique_ptr<PeerCheck> check{};  // none with a shared key; goes after tls, which refers to it
  TlsPointer<SSL> tls;
  BIO* input = nullptr;   // owned by tls
  BIO* output = nullptr;  // owned by tls
};

/// errors: Errc::cipher_failed
[[nodiscard]] Result<TlsConnection> make_tls_connection(Role role, const Credentials& credentials,
                                                        std::vector<std::string> applications);

/// Whether the handshake that is over proved what the connection asks for: nothing else may have convinced it.
[[nodiscard]] bool has_proved_key(const TlsConnection& connection);

/// Why the last TLS call of this thread failed; empties OpenSSL's error queue.
/// gives: Errc::authentication_failed, Errc::parameters_refused or Errc::protocol_violated, see docs/spec/handshake.md
/// §3
[[nodiscard]] Error take_tls_error(Role role, const TlsConnection& connection);

/// The reason why a peer went before the handshake was over, where it has shown one: an alert behind early data is
/// lost.
/// broken   the error of the channel, given back where there is none
[[nodiscard]] Error why_broken(Error broken, const TlsConnection& connection);

}  // namespace udtcat::session
