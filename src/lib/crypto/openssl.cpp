// SPDX-License-Identifier: Apache-2.0
#include "lib/crypto/openssl.hpp"

#include <array>
#include <tuple>

#include <openssl/crypto.h>
#include <openssl/err.h>

#include <udtcat/credentials.hpp>

namespace udtcat::crypto {

std::string take_openssl_text() {
  const unsigned long code = ERR_peek_error();
  std::string text;
  if (code != 0) {
    if (const char* reason = ERR_reason_error_string(code)) {
      text = reason;
    } else {
      std::array<char, 256> buffer{};
      ERR_error_string_n(code, buffer.data(), buffer.size());
      text = buffer.data();
    }
  }
  ERR_clear_error();
  return text;
}

int peek_openssl_reason() { return ERR_GET_REASON(ERR_peek_error()); }

void clear_openssl_errors() { ERR_clear_error(); }

tl::unexpected<Error> openssl_failed(std::string what) {
  return fail(Errc::cipher_failed, std::move(what), take_openssl_text());
}

}  // namespace udtcat::crypto

namespace udtcat {

void ignore_crypto_configuration() {
  std::ignore = ::OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);  // fails where all use of OpenSSL does
}

}  // namespace udtcat
