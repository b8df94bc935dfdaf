// SPDX-License-Identifier: Apache-2.0
#include <udtcat/crypto_setup.hpp>

#include <tuple>

#include <openssl/crypto.h>

namespace udtcat {

void ignore_crypto_configuration() {
  std::ignore = ::OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);  // fails where all use of OpenSSL does
}

}  // namespace udtcat
