// SPDX-License-Identifier: Apache-2.0
#include "lib/crypto/key_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "lib/core/invariant.hpp"
#include "lib/core/text.hpp"
#include "lib/crypto/openssl.hpp"

namespace udtcat::crypto {

namespace {

constexpr std::size_t kSecretBytes = 32;  // spec: docs/spec/handshake.md §1
constexpr std::size_t kCheckBytes = 4;    // spec: docs/spec/handshake.md §1
constexpr std::size_t kRawBytes = kSecretBytes + kCheckBytes;
constexpr std::size_t kCharacters = kRawBytes / 3 * 4;
static_assert(kRawBytes % 3 == 0, "no padding is needed");
constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";  // spec: RFC 4648 §5

using Raw = SecretBytes<kRawBytes>;

// Three bytes are four characters of six bits.
void append_base64url(std::string& text, const Raw& raw) {
  for (std::size_t i = 0; i < kRawBytes; i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = (bits << 8) | std::to_integer<std::uint32_t>(raw.bytes()[i + k]);
    for (int shift = 18; shift >= 0; shift -= 6) text += kAlphabet[(bits >> shift) & 0x3fU];
  }
}

std::optional<Raw> from_base64url(std::string_view characters) {
  Raw raw;
  for (std::size_t i = 0; i < kCharacters; i += 4) {
    std::uint32_t bits = 0;
    for (const char character : characters.substr(i, 4)) {
      const std::size_t value = kAlphabet.find(character);
      if (value == std::string_view::npos) return std::nullopt;
      bits = (bits << 6) | static_cast<std::uint32_t>(value);
    }
    for (std::size_t k = 0; k < 3; ++k) raw.writable()[i / 4 * 3 + k] = static_cast<std::byte>(bits >> (16 - 8 * k));
  }
  return raw;
}

std::array<std::byte, kCheckBytes> check_of(std::span<const std::byte, kSecretBytes> secret) {
  Secret32 digest;
  std::size_t length = 0;
  UDTCAT_INVARIANT(EVP_Q_digest(nullptr, "SHA256", nullptr, secret.data(), secret.size(),
                                uchars(digest.writable().data()), &length) == 1,
                   "no TLS is possible without SHA-256, and the digest has its 32 bytes");
  std::array<std::byte, kCheckBytes> check;
  std::copy_n(digest.bytes().begin(), kCheckBytes, check.begin());
  return check;
}

// The text is a secret, or nearly one: no message quotes it.
tl::unexpected<Error> not_a_key(std::string why) { return fail(Errc::bad_argument, "read a key", std::move(why)); }

}  // namespace

std::string secret_to_text(std::string_view prefix, std::span<const std::byte, 32> secret) {
  const auto check = check_of(secret);
  Raw raw;
  std::copy(check.begin(), check.end(), std::copy(secret.begin(), secret.end(), raw.writable().begin()));
  std::string text;
  text.reserve(prefix.size() + kCharacters);  // so that no reallocation leaves a copy
  text = prefix;
  append_base64url(text, raw);
  return text;
}

Result<Secret32> secret_from_text(std::string_view prefix, std::string_view text) {
  text = core::trimmed(text, " \t\r\n\v\f");
  if (!text.starts_with(prefix)) return not_a_key("it does not begin with " + std::string(prefix));
  text.remove_prefix(prefix.size());
  if (text.size() != kCharacters)
    return not_a_key("after " + std::string(prefix) + " it has " + std::to_string(text.size()) + " characters, not " +
                     std::to_string(kCharacters));
  const std::optional<Raw> raw = from_base64url(text);
  if (!raw) return not_a_key("it has a character other than letters, digits, - and _");
  Secret32 secret;
  std::copy_n(raw->bytes().begin(), kSecretBytes, secret.writable().begin());
  const auto check = check_of(secret.bytes());
  if (!std::equal(check.begin(), check.end(), raw->bytes().begin() + kSecretBytes))
    return not_a_key("its check does not match: a typing error");
  return secret;
}

}  // namespace udtcat::crypto
