/// Owners for OpenSSL's objects, and its idea of a byte. Included by src/crypto only.
#pragma once

#include <cstddef>
#include <memory>

#include <openssl/evp.h>

namespace udtcat::crypto {

template <auto Free>
struct FreeWith {
  template <typename Object>
  void operator()(Object* object) const noexcept {
    Free(object);
  }
};

using EvpCipher = std::unique_ptr<EVP_CIPHER, FreeWith<EVP_CIPHER_free>>;
using EvpCipherContext = std::unique_ptr<EVP_CIPHER_CTX, FreeWith<EVP_CIPHER_CTX_free>>;

// SAFETY: unsigned char may alias anything, std::byte included.
inline unsigned char* uchars(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }
inline const unsigned char* uchars(const std::byte* bytes) { return reinterpret_cast<const unsigned char*>(bytes); }

}  // namespace udtcat::crypto
