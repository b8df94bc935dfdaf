#include "lib/crypto/sha256.hpp"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>

#include "lib/crypto/openssl_error.hpp"

namespace udtcat::crypto {

Result<std::string> sha256_hex(std::span<const std::byte> bytes) {
  constexpr std::size_t kDigestBytes = 32;  // spec: FIPS 180-4
  std::array<unsigned char, kDigestBytes> digest{};
  std::size_t length = 0;
  if (EVP_Q_digest(nullptr, "SHA256", nullptr, bytes.data(), bytes.size(), digest.data(), &length) != 1)
    return openssl_failed("compute a digest");
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace udtcat::crypto
