/// OpenSSL's error queue, read once and emptied.
#pragma once

#include <string>

#include <udtcat/result.hpp>

namespace udtcat::crypto {

/// The text of the oldest entry of this thread's queue, which caused the others; the queue is empty afterwards. Empty
/// where there was none.
[[nodiscard]] std::string take_openssl_text();
/// The reason code (ERR_GET_REASON) of the oldest entry of this thread's queue, which stays; 0 where there is none.
[[nodiscard]] int peek_openssl_reason();
/// Forgets what earlier calls left behind, so that what comes next speaks of itself.
void clear_openssl_errors();

/// Errc::cipher_failed with what OpenSSL says.
[[nodiscard]] tl::unexpected<Error> openssl_failed(std::string what);

}  // namespace udtcat::crypto
