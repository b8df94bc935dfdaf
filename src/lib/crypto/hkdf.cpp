// SPDX-License-Identifier: Apache-2.0
#include "lib/crypto/hkdf.hpp"

#include <array>
#include <vector>

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include "lib/core/try.hpp"
#include "lib/crypto/openssl.hpp"

namespace udtcat::crypto {

namespace {

using EvpKdf = std::unique_ptr<EVP_KDF, Deleter<EVP_KDF_free>>;
using EvpKdfContext = std::unique_ptr<EVP_KDF_CTX, Deleter<EVP_KDF_CTX_free>>;

// OpenSSL's parameters carry inputs through pointers to non-const; HKDF only reads them.
OSSL_PARAM octets(const char* name, std::span<const std::byte> bytes) {
  return OSSL_PARAM_construct_octet_string(name, const_cast<std::byte*>(bytes.data()), bytes.size());
}

Status derive(int mode, std::span<const std::byte> key, std::span<const std::byte> info, std::span<std::byte> out) {
  const EvpKdf kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  const EvpKdfContext context(kdf ? EVP_KDF_CTX_new(kdf.get()) : nullptr);
  if (!context) return openssl_failed("set up HKDF");
  std::array<char, 7> digest{"SHA256"};
  const std::array<OSSL_PARAM, 5> parameters{OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
                                             OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
                                             octets(OSSL_KDF_PARAM_KEY, key), octets(OSSL_KDF_PARAM_INFO, info),
                                             OSSL_PARAM_construct_end()};
  if (EVP_KDF_derive(context.get(), uchars(out.data()), out.size(), parameters.data()) != 1)
    return openssl_failed("derive a key");
  return {};
}

}  // namespace

Result<Secret32> hkdf_extract(std::span<const std::byte> input) {
  Secret32 secret;
  UDTCAT_CHECK(derive(EVP_KDF_HKDF_MODE_EXTRACT_ONLY, input, {}, secret.writable()));
  return secret;
}

Status hkdf_expand(const Secret32& secret, std::string_view label, std::span<const std::byte> context,
                   std::span<std::byte> out) {
  const auto label_bytes = std::as_bytes(std::span(label));
  std::vector<std::byte> info(label_bytes.begin(), label_bytes.end());
  info.insert(info.end(), context.begin(), context.end());
  return derive(EVP_KDF_HKDF_MODE_EXPAND_ONLY, secret.bytes(), info, out);
}

}  // namespace udtcat::crypto
