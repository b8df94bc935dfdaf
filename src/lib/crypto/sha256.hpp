/// SHA-256 of what is not secret.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <udtcat/result.hpp>

namespace udtcat::crypto {

/// In hexadecimal, as sha256sum(1) prints it.  errors   Errc::cipher_failed
[[nodiscard]] Result<std::string> sha256_hex(std::span<const std::byte> bytes);

}  // namespace udtcat::crypto
