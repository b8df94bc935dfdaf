#include <udtcat/key.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

#include <openssl/rand.h>

#include "lib/core/invariant.hpp"
#include "lib/crypto/evp.hpp"
#include "lib/crypto/openssl_error.hpp"
#include "lib/crypto/secret_bytes.hpp"

namespace udtcat {

namespace {

constexpr std::string_view kPrefix = "udtcat1-";  // spec: docs/spec/handshake.md §1
constexpr std::size_t kCheckBytes = 4;            // spec: docs/spec/handshake.md §1
constexpr std::size_t kRawBytes = Key::kBytes + kCheckBytes;
constexpr std::size_t kCharacters = kRawBytes / 3 * 4;
static_assert(kRawBytes % 3 == 0, "no padding is needed");
constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";  // spec: RFC 4648 §5

using Raw = crypto::SecretBytes<kRawBytes>;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// Three bytes are four characters of six bits.
std::string to_base64url(const Raw& raw) {
  std::string text;
  text.reserve(kPrefix.size() + kCharacters);
  text = kPrefix;
  for (std::size_t i = 0; i < kRawBytes; i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = (bits << 8) | std::to_integer<std::uint32_t>(raw.bytes()[i + k]);
    for (int shift = 18; shift >= 0; shift -= 6) text += kAlphabet[(bits >> shift) & 0x3fU];
  }
  return text;
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

std::array<std::byte, kCheckBytes> check_of(std::span<const std::byte, Key::kBytes> key) {
  crypto::Secret32 digest;
  std::size_t length = 0;
  UDTCAT_INVARIANT(EVP_Q_digest(nullptr, "SHA256", nullptr, key.data(), key.size(),
                                crypto::uchars(digest.writable().data()), &length) == 1,
                   "no TLS is possible without SHA-256, and the digest has its 32 bytes");
  std::array<std::byte, kCheckBytes> check;
  std::copy_n(digest.bytes().begin(), kCheckBytes, check.begin());
  return check;
}

// The text is a secret, or nearly one: no message quotes it.
tl::unexpected<Error> not_a_key(std::string why) { return fail(Errc::bad_argument, "read a key", std::move(why)); }

}  // namespace

Result<Key> Key::generate() {
  Key key;
  if (RAND_priv_bytes(crypto::uchars(key.bytes_.data()), static_cast<int>(kBytes)) != 1)
    return crypto::openssl_failed("make a key");
  return key;
}

Result<Key> Key::parse(std::string_view text) {
  text = trimmed(text);
  if (!text.starts_with(kPrefix)) return not_a_key("it does not begin with " + std::string(kPrefix));
  text.remove_prefix(kPrefix.size());
  if (text.size() != kCharacters)
    return not_a_key("after " + std::string(kPrefix) + " it has " + std::to_string(text.size()) + " characters, not " +
                     std::to_string(kCharacters));
  const std::optional<Raw> raw = from_base64url(text);
  if (!raw) return not_a_key("it has a character other than letters, digits, - and _");
  Key key;
  std::copy_n(raw->bytes().begin(), kBytes, key.bytes_.begin());
  const auto check = check_of(key.bytes_);
  if (!std::equal(check.begin(), check.end(), raw->bytes().begin() + kBytes))
    return not_a_key("its check does not match: a typing error");
  return key;
}

Key::Key(Key&& other) noexcept : bytes_(other.bytes_) { crypto::erase(other.bytes_); }

Key& Key::operator=(Key&& other) noexcept {
  if (this != &other) {
    bytes_ = other.bytes_;
    crypto::erase(other.bytes_);
  }
  return *this;
}

Key::~Key() { crypto::erase(bytes_); }

Key Key::duplicate() const {
  Key copy;
  copy.bytes_ = bytes_;
  return copy;
}

std::string Key::reveal_text() const {
  const auto check = check_of(bytes_);
  Raw raw;
  std::copy(check.begin(), check.end(), std::copy(bytes_.begin(), bytes_.end(), raw.writable().begin()));
  return to_base64url(raw);
}

}  // namespace udtcat
