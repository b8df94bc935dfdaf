#include "lib/crypto/secret_bytes.hpp"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include "lib/crypto/openssl.hpp"

namespace udtcat::crypto {

bool same(std::span<const std::byte> one, std::span<const std::byte> other) noexcept {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

Status randomise(std::span<std::byte> bytes) {
  if (RAND_bytes(uchars(bytes.data()), static_cast<int>(bytes.size())) != 1) return openssl_failed("draw random bytes");
  return {};
}

}  // namespace udtcat::crypto
