// SPDX-License-Identifier: Apache-2.0
#include "lib/crypto/secret_bytes.hpp"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include "lib/core/byte_order.hpp"
#include "lib/core/try.hpp"
#include "lib/crypto/openssl.hpp"

namespace udtcat::crypto {

bool same(std::span<const std::byte> one, std::span<const std::byte> other) noexcept {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

Status randomise(std::span<std::byte> bytes) {
  if (RAND_bytes(uchars(bytes.data()), static_cast<int>(bytes.size())) != 1) return openssl_failed("draw random bytes");
  return {};
}

Result<std::uint64_t> random_u64() {
  std::array<std::byte, sizeof(std::uint64_t)> bytes;
  UDTCAT_CHECK(randomise(bytes));
  return core::load_be<std::uint64_t>(bytes);
}

}  // namespace udtcat::crypto
