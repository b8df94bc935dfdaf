#include "crypto/secret_bytes.hpp"

#include <openssl/crypto.h>

namespace udtcat::crypto {
void erase(std::span<std::byte> bytes) noexcept { OPENSSL_cleanse(bytes.data(), bytes.size()); }
}  // namespace udtcat::crypto
