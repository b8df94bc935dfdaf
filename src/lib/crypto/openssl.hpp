// SPDX-License-Identifier: Apache-2.0
/// Owners for OpenSSL's objects, its idea of a byte, and its error queue, read once and emptied.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <openssl/evp.h>

#include <udtcat/result.hpp>

namespace udtcat::crypto {

template <auto Free>
struct Deleter {
  template <typename Object>
  void operator()(Object* object) const noexcept {
    Free(object);
  }
};

using EvpCipher = std::unique_ptr<EVP_CIPHER, Deleter<EVP_CIPHER_free>>;
using EvpCipherContext = std::unique_ptr<EVP_CIPHER_CTX, Deleter<EVP_CIPHER_CTX_free>>;
using EvpKey = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;

// SAFETY: unsigned char may alias anything, std::byte included.
inline unsigned char* uchars(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }
inline const unsigned char* uchars(const std::byte* bytes) { return reinterpret_cast<const unsigned char*>(bytes); }

/// The text of the oldest entry of this thread's queue, which caused the others; the queue is empty afterwards. Empty
/// where there was none.
[[nodiscard]] std::string take_openssl_text();
/// The reason code (ERR_GET_REASON) of the oldest entry of this thread's queue, which stays; 0 where there is none.
[[nodiscard]] int peek_openssl_reason();
/// Empties this thread's error queue before a call whose errors are wanted.
void clear_openssl_errors();

/// Errc::cipher_failed with what OpenSSL says.
[[nodiscard]] tl::unexpected<Error> openssl_failed(std::string what);

}  // namespace udtcat::crypto
