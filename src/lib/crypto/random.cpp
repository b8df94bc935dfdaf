#include "lib/crypto/random.hpp"

#include <array>

#include <openssl/rand.h>

#include "lib/core/byte_order.hpp"
#include "lib/crypto/openssl.hpp"

namespace udtcat::crypto {

Result<std::uint64_t> random_u64() {
  std::array<std::byte, sizeof(std::uint64_t)> bytes{};
  if (RAND_bytes(uchars(bytes.data()), static_cast<int>(bytes.size())) != 1) return openssl_failed("get random bytes");
  return core::load_be<std::uint64_t>(bytes);
}

}  // namespace udtcat::crypto
